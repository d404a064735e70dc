#if Persistence
    import EssentialsPersistence
    import GRDB

    extension PersistenceFailure {
        /// The failure for an error of the database.
        ///
        /// The message contains SQLite's text, which names constraints and columns but no values.
        init(database error: any Error, store: String) {
            switch error {
            case let failure as PersistenceFailure:
                self = failure.naming(store: store)
            case is CancellationError:
                self.init(.cancelled, "The call was cancelled.", store: store, underlying: error)
            case let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK:
                self.init(
                    .readOnly, "A change was interrupted, and nobody has undone it yet.",
                    remedy: "Open the store once where it can be written.", store: store, underlying: error)
            case let error as DatabaseError
            where error.resultCode == .SQLITE_ERROR && error.message == "too many levels of trigger recursion":
                self.init(
                    .limit, "A deletion or a trigger leads through more than a thousand rows, one after the other.",
                    remedy: "Delete rows that refer to others before these, in smaller steps.", store: store,
                    underlying: error)
            case let error as DatabaseError:
                self.init(
                    ResultCodes.reason(error.extendedResultCode.rawValue),
                    "SQLite reports \(error.extendedResultCode.rawValue): \(error.message ?? "no text").",
                    store: store, model: Self.table(in: error), underlying: error)
            default:
                self.init(.work, "The closure has thrown \(type(of: error)).", store: store, underlying: error)
            }
        }

        /// The table of a violated constraint, as in `UNIQUE constraint failed: film.title`.
        private static func table(in error: DatabaseError) -> String? {
            guard error.resultCode == .SQLITE_CONSTRAINT, let message = error.message,
                let columns = message.split(separator: ": ", maxSplits: 1).dropFirst().first,
                let dot = columns.firstIndex(of: ".")
            else { return nil }
            return String(columns[..<dot])
        }
    }
#endif
