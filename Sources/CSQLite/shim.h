// What Swift cannot see of SQLite: macros and variadic functions, and nothing else.
#ifndef UNDERSTUDY_CSQLITE_SHIM_H
#define UNDERSTUDY_CSQLITE_SHIM_H

#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast macro: SQLite copies the bytes before the call returns.
static inline int understudy_sqlite_bind_text(sqlite3_stmt *s, int i, const char *t, int n) {
    return sqlite3_bind_text(s, i, t, n, SQLITE_TRANSIENT);
}
static inline int understudy_sqlite_bind_blob(sqlite3_stmt *s, int i, const void *b, int n) {
    return sqlite3_bind_blob(s, i, b, n, SQLITE_TRANSIENT);
}

// sqlite3_db_config is variadic; these options take a switch and a place for the setting that results.
static inline int understudy_sqlite_configure(sqlite3 *db, int option, int on) {
    return sqlite3_db_config(db, option, on, (int *)0);
}

#endif
