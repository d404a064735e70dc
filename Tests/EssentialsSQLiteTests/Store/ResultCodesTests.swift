#if Persistence
    import EssentialsPersistence
    import GRDB
    import Testing

    @testable import EssentialsSQLite

    @Suite struct ResultCodesTests {
        /// The primary codes in their order, from 1 on.
        private static let documented: [PersistenceFailure.Reason] = [
            .invalidQuery, .corrupt, .file, .cancelled, .busy, .busy, .limit, .readOnly, .cancelled, .file, .corrupt,
            .file, .full, .file, .busy, .file, .busy, .limit, .constraint, .invalidModel, .invalidQuery, .file,
            .invalidQuery, .corrupt, .invalidQuery, .corrupt,
        ]

        @Test("Every primary code of SQLite has its documented reason, and an unknown code has the reason file")
        func allCodes() {
            for (code, reason) in zip(Int32(1)..., Self.documented) {
                #expect(ResultCodes.reason(code) == reason, "\(code)")
                // An extended code that is not listed has the reason of its primary code.
                #expect(ResultCodes.reason(code | 200 << 8) == reason, "\(code)")
            }
            #expect(Set(ResultCodes.primary.keys) == Set(1...26))
            #expect(ResultCodes.reason(99) == .file)
        }

        @Test(
            "A code has a reason, and an extended code can have another one",
            arguments: [
                (5, .busy), (5 | 2 << 8, .busy), (8, .readOnly), (8 | 4 << 8, .file), (10, .file),
                (10 | 15 << 8, .busy), (10 | 32 << 8, .corrupt), (10 | 19 << 8, .full), (10 | 33 << 8, .corrupt),
                (10 | 12 << 8, .limit), (11, .corrupt), (13, .full), (14, .file),
                (19 | 8 << 8, .constraint), (19 | 12 << 8, .invalidModel), (26, .corrupt), (9, .cancelled),
                (1, .invalidQuery), (18, .limit),
            ] as [(Int32, PersistenceFailure.Reason)])
        func codes(code: Int32, reason: PersistenceFailure.Reason) {
            let error = DatabaseError(resultCode: ResultCode(rawValue: code), message: "UNIQUE constraint failed: a.b")
            let failure = PersistenceFailure(database: error, store: "s")
            #expect(failure.reason == reason)
            #expect(failure.store == "s")
            #expect(failure.model == (code & 0xFF == 19 ? "a" : nil))
            #expect(failure.underlying is DatabaseError)
        }

        @Test("Failures stay unchanged, cancellations become cancelled, and other errors are those of the closure")
        func otherErrors() {
            struct Own: Error {}
            #expect(PersistenceFailure(database: PersistenceFailure(.limit, ""), store: "s").reason == .limit)
            #expect(PersistenceFailure(database: CancellationError(), store: "s").reason == .cancelled)
            #expect(PersistenceFailure(database: Own(), store: "s").legacyCode == 2000)
        }
    }
#endif
