#!/usr/bin/env python3
"""Makes the small files in fuzz/corpus that fuzzing starts from (needs numpy and pyarrow). Findings are added by hand, called after what was wrong."""

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HOME = Path(__file__).parent / "corpus"
LABELS = "id,a,b,class\no1,x,0,p\no2,x,0,p\no3,y,1,q\no4,y,1,q\no5,,1,q\n"
FEATURES = "id,u,v\no1,1.5,-2\no2,1.25,3e4\no3,0.5,7\n"
SOFT = "id,m:0,m:1,h\no1,0.25,0.75,1\no2,1,0,1\no3,,,2\n"


def put(target: str, name: str, content: bytes | str) -> None:
    (HOME / target).mkdir(parents=True, exist_ok=True)
    (HOME / target / name).write_bytes(content.encode() if isinstance(content, str) else content)


def told(bits: int, what: int, content: bytes | str) -> bytes:
    return bytes([bits, what]) + (content.encode() if isinstance(content, str) else content)


def parquet(table: pa.Table, **how) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **how)
    return out.getvalue()


def arrow(table: pa.Table, **how) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_file(out, table.schema, options=pa.ipc.IpcWriteOptions(**how)) as file:
        file.write_table(table)
    return out.getvalue()


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


texts = {"labels": (1, 0, LABELS), "classes": (3, 1, LABELS), "features": (1, 2, FEATURES), "soft": (1, 0, SOFT), "raw": (0, 3, LABELS),
         "one": (0, 4, "id,cluster\n0,1\n1,1\n2,2\n3,2\n4,3\n5,3\n"), "times": (1, 5, LABELS), "names": (0, 6, LABELS),
         "weights": (4, 0, "a,w\n0,1\n0,2.5\n1,1e9\n"), "comma": (16, 2, "u;v\n1,5;2,5\n3;4\n"), "quotes": (1, 0, 'id,"a,b",c\n"x\n""y""",1,2\nz,1,3\n'),
         "returns": (8, 0, "0,1\r1,1\r0,0\r"), "mark": (0, 0, b"\xef\xbb\xbfa,b\r\n0,1\r\n1,1\r\n"), "impute": (32, 2, "u,v\n1.5,NA\nnan,2\n")}
for name, (bits, what, text) in texts.items():
    put("csv", name, told(bits, what, text))
    raw = text if isinstance(text, bytes) else text.encode()
    put("tsv", name, told(bits, what, raw.replace(b",", b"\t")))
    if name in ("labels", "features", "soft"):
        put("gzip", name, told(bits, what, gzip.compress(raw, mtime=0)))
put("gzip", "two", told(1, 0, gzip.compress(LABELS[:30].encode(), mtime=0) + gzip.compress(LABELS[30:].encode(), mtime=0)))
put("gzip", "zeros", told(0, 3, gzip.compress(b"a,b\n" + b"0,0\n" * 50_000, mtime=0)))

for kind in ("<i1", "<u2", "<i8", "<f4", "<f8", ">i4", "|b1", "<U3", "|S2"):
    array = np.array([[0, 1], [1, 1], [0, 0]]).astype(kind)
    put("npy", "array-" + kind.strip("<>|") , told(0, 0 if kind[1] in "iubUS" else 2, npy(array)))
put("npy", "columns", told(0, 2, npy(np.asfortranarray(np.eye(3)))))
put("npy", "line", told(0, 4, npy(np.arange(6))))

market = "%%MatrixMarket matrix coordinate {} {}\n% note\n3 3 4\n1 1{}\n2 1{}\n3 1{}\n3 2{}\n"
put("market", "real", told(0, 2, market.format("real", "general", *[" 1.5"] * 4)))
put("market", "pattern", told(0, 2, market.format("pattern", "symmetric", *[""] * 4)))
put("market", "skew", told(0, 2, "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 1 -2\n"))

# Findings: a panic, 32 GB, and a number that is none.
put("market", "found-not-square", told(0, 2, "%%MatrixMarket matrix coordinate real symmetric\n2 5 1\n1 5 1\n"))
put("market", "found-rows", told(0, 2, "%%MatrixMarket matrix coordinate real general\n4000000000 2 1\n1 1 1\n"))
put("market", "found-infinite", told(0, 2, "%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1e308\n1 1 1e308\n"))

columns = {"id": ["o1", "o2", "o3", "o4"], "a": ["x", "x", "y", None], "b": [0, 0, 1, 1]}
table = pa.table(columns)
coded = table.set_column(1, "a", table["a"].dictionary_encode())
numbers = pa.table({"u": [1.5, 2.5, 3.5], "v": pa.array([1, 2, 3], pa.float32())})
for name, content in {"plain": table, "coded": coded}.items():
    put("parquet", name, told(1, 0, parquet(content)))
    put("arrow", name, told(1, 0, arrow(content)))
    put("rows", name, bytes([1]) + parquet(content, row_group_size=2))
put("parquet", "numbers", told(0, 2, parquet(numbers, compression="NONE")))
put("parquet", "delta", told(1, 0, parquet(table, use_dictionary=False, column_encoding={"b": "DELTA_BINARY_PACKED", "id": "DELTA_BYTE_ARRAY", "a": "PLAIN"})))
put("parquet", "gzip", told(1, 0, parquet(table, compression="GZIP", data_page_version="2.0")))
put("arrow", "numbers", told(0, 2, arrow(numbers)))
put("rows", "integers", bytes([0]) + parquet(pa.table({"a": [0, 0, 1, 1, 2], "b": [5, 5, 5, 7, 7]}), row_group_size=2))
put("rows", "weights", bytes([4]) + parquet(pa.table({"a": [0, 0, 1], "w": [1.0, 2.0, 0.5]})))

for name, text in {"soft": SOFT, "two": "m:x,m:y,k:1,k:2\n1,0,0.5,0.5\n0.5,0.5,0,1\n", "sums": "m:0,m:1\n3,1\n1e-300,0\n0,5\n"}.items():
    put("memberships", name, bytes([name == "soft"]) + text.encode())
for name, (bits, text) in {"rows": (0, "from,to\n0,1\n1,2\n19,0\n"), "names": (8, "a,b,weight\n0,1,2.5\n1,2,0\n"), "bare": (2, "0,1,1e9\n2,3,0.1\n"),
                           "tabs": (1, "a\tb\n0\t1\n")}.items():
    put("edges", name, bytes([bits]) + text.encode())

base = {"schema": 1, "version": "0.1.0", "command": {"name": "combine", "k": 3, "set": {"alpha": "50"}, "drop": ["a"]}, "seed": 0,
        "inputs": [{"file": "t.csv", "bytes": 10, "xxh64": "00"}], "data": {"n": 3, "id": "id"}, "consensus": {"method": "lwea", "k": 2}}
put("record", "small", json.dumps(base))
put("record", "scores", json.dumps({**base, "scores": None, "classes": None, "title": "x"}))

for name, words in {"k": ["--k", "2..10", "--method", "all"], "set": ["--method", "scec", "--k", "3", "--set", "alpha=50", "--set", "restarts=2"],
                    "auto": ["-k", "auto", "-m", "lwea"], "sizes": ["8GiB", "--k", "0"], "kcc": ["-m", "kcc", "-k", "4", "--set", "utility=lp", "--set", "p=2.5"],
                    "negative": ["--k", "-3", "--set", "tol=nan"]}.items():
    put("arguments", name, "\n".join(words))
for which in range(43):
    put("methods", f"method{which}", bytes([which, 2 + which % 3, [0, 16, 2, 32, 48][which % 5], 11 + which % 17, 2 + which % 4]) + bytes((7 * i * i + i // 5) % 4 for i in range(24)))
for name, (bits, method, text) in {"labels": (0, 0, LABELS), "voting": (4, 1, LABELS), "all": (16 + 64, 5, LABELS), "features": (8, 2, FEATURES), "soft": (0, 3, SOFT)}.items():
    put("job", name, told(bits, method, text))
put("job", "features2", told(8 + 16, 2, "u,v\n" + "".join(f"{i % 2 * 5 + i / 7:.2f},{i % 3 / 9:.2f}\n" for i in range(12))))
put("job", "script", told(0, 0, LABELS.replace("x", "<script>alert(1)</script>").replace("o1", '"</script><img src=x onerror=1>"')))
