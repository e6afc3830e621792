/* R looks for R_init_consilience when it loads the library; the routines are registered from Rust. */
void R_init_consilience_extendr(void *dll);

void R_init_consilience(void *dll)
{
    R_init_consilience_extendr(dll);
}
