/* The one function that Rust programs ask of this library of Windows, for versions of Wine (before 9) that do
   not have it. Used to run our program there, and part of nothing that is distributed. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID to, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T length)
{
    return SystemFunction036(to, (ULONG) length);
}
