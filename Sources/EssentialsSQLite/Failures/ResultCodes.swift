#if Persistence
    import EssentialsPersistence

    /// The failure reasons for SQLite's result codes.
    enum ResultCodes {
        /// The reasons for the primary codes, which are the lower eight bits.
        static let primary: [Int32: PersistenceFailure.Reason] = [
            1: .invalidQuery,  // ERROR: mostly an error in SQL
            2: .corrupt,  // INTERNAL
            3: .file,  // PERM
            4: .cancelled,  // ABORT
            5: .busy,  // BUSY
            6: .busy,  // LOCKED
            7: .limit,  // NOMEM
            8: .readOnly,  // READONLY
            9: .cancelled,  // INTERRUPT
            10: .file,  // IOERR
            11: .corrupt,  // CORRUPT
            12: .file,  // NOTFOUND: an operation that the file system lacks
            13: .full,  // FULL
            14: .file,  // CANTOPEN
            15: .busy,  // PROTOCOL: the locks of the log
            16: .file,  // EMPTY
            17: .busy,  // SCHEMA: others keep changing the tables
            18: .limit,  // TOOBIG
            19: .constraint,  // CONSTRAINT
            20: .invalidModel,  // MISMATCH
            21: .invalidQuery,  // MISUSE
            22: .file,  // NOLFS
            23: .invalidQuery,  // AUTH
            24: .corrupt,  // FORMAT
            25: .invalidQuery,  // RANGE
            26: .corrupt,  // NOTADB
        ]

        /// The reasons for extended codes that differ from those for their primary codes.
        static let extended: [Int32: PersistenceFailure.Reason] = [
            8 | 4 << 8: .file,  // READONLY_DBMOVED
            10 | 12 << 8: .limit,  // IOERR_NOMEM
            10 | 15 << 8: .busy,  // IOERR_LOCK
            10 | 19 << 8: .full,  // IOERR_SHMSIZE: the shared memory of the log cannot grow
            10 | 32 << 8: .corrupt,  // IOERR_DATA: a checksum is wrong
            10 | 33 << 8: .corrupt,  // IOERR_CORRUPTFS
            19 | 12 << 8: .invalidModel,  // CONSTRAINT_DATATYPE
        ]

        static func reason(_ code: Int32) -> PersistenceFailure.Reason {
            extended[code] ?? primary[code & 0xFF] ?? .file
        }
    }
#endif
