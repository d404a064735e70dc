extension PersistenceFailure {
    /// The kind of a failure. New reasons may be added: compare with `==`, and handle unknown ones.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        private enum Code: String, Sendable, CaseIterable {
            case notReady, opening, closed, notFound, constraint, conflict, invalidModel, invalidQuery, encoding
            case decoding, work, busy, full, readOnly, corrupt, newerSchema, schemaMismatch, migration, file, limit
            case expired, reentrant, cancelled
        }

        private let code: Code

        /// A stable name such as `newerSchema`, for logs and scripts.
        public var name: String { code.rawValue }
        /// The stable name, for logs.
        public var description: String { name }

        /// All reasons of this version.
        public static let all: [Reason] = Code.allCases.map { Reason(code: $0) }

        /// The store is still being opened, and the call does not wait.
        public static let notReady = Reason(code: .notReady)
        /// The store could not be opened, for a cause that has no reason of its own. Most causes have one, such as
        /// ``newerSchema``.
        public static let opening = Reason(code: .opening)
        /// The service or the scope is closed.
        public static let closed = Reason(code: .closed)
        /// No row has this id, or the query finds no row.
        public static let notFound = Reason(code: .notFound)
        /// A row violates a constraint of its table.
        public static let constraint = Reason(code: .constraint)
        /// A row was changed by others since it was read.
        public static let conflict = Reason(code: .conflict)
        /// A model does not fit its columns, has a value that cannot be stored, or has changed its id.
        public static let invalidModel = Reason(code: .invalidModel)
        /// A query is invalid.
        public static let invalidQuery = Reason(code: .invalidQuery)
        /// A model could not be encoded.
        public static let encoding = Reason(code: .encoding)
        /// A row could not be decoded.
        public static let decoding = Reason(code: .decoding)
        /// A closure of the caller has thrown.
        public static let work = Reason(code: .work)
        /// Another program holds the store.
        public static let busy = Reason(code: .busy)
        /// There is no space for the store.
        public static let full = Reason(code: .full)
        /// The file or its folder cannot be written.
        public static let readOnly = Reason(code: .readOnly)
        /// The file is not a store, or is damaged.
        public static let corrupt = Reason(code: .corrupt)
        /// The store was written by a newer version of the program.
        public static let newerSchema = Reason(code: .newerSchema)
        /// The tables do not fit the models.
        public static let schemaMismatch = Reason(code: .schemaMismatch)
        /// A migration has failed.
        public static let migration = Reason(code: .migration)
        /// A file could not be read or written.
        public static let file = Reason(code: .file)
        /// A limit was reached.
        public static let limit = Reason(code: .limit)
        /// A read took longer than its limit.
        public static let expired = Reason(code: .expired)
        /// A blocking call was made inside a closure that runs on the store's own connection.
        public static let reentrant = Reason(code: .reentrant)
        /// The call was cancelled by its task or a shutdown.
        public static let cancelled = Reason(code: .cancelled)
    }
}

extension PersistenceFailure.Reason {
    /// What to try, if the failure itself has no more specific remedy. `nil` if nothing helps.
    public var remedy: String? {
        switch code {
        case .notReady: "Wait until the store is ready."
        case .opening: "Remove the cause, and open the store again."
        case .closed: "Use a service that is open."
        case .notFound: "Fetch the rows again."
        case .constraint: "Correct the row."
        case .conflict: "Fetch the rows again, or choose which changes count."
        case .invalidModel: "Correct the model or the value."
        case .invalidQuery: "Correct the query."
        case .encoding: "Check that the model can be encoded."
        case .decoding: "Compare the model with the row."
        case .work: "Handle the underlying error."
        case .busy: "Try again, or end the other program."
        case .full: "Free space on the disk, and try again. Deleting rows needs space itself."
        case .readOnly: "Check the permissions of the file and its folder."
        case .corrupt: "Check the file with `essentials store check`, and restore a backup."
        case .newerSchema: "Update the program."
        case .schemaMismatch: "Add a migration, or correct the models."
        case .migration: "Correct the migration; the store is at the one before."
        case .file: "Check the path and its permissions."
        case .limit: "Save in smaller steps, or raise the limit."
        case .expired: "Read in smaller steps."
        case .reentrant: "Use the closure's own parameter, or call after the closure has ended."
        case .cancelled: nil
        }
    }

    /// Whether the reason concerns the data of a call and says nothing about the store.
    var isOfCalls: Bool {
        switch code {
        case .notReady, .opening, .closed, .busy, .full, .readOnly, .corrupt, .newerSchema, .schemaMismatch, .migration,
            .file, .limit:
            false
        case .notFound, .constraint, .conflict, .invalidModel, .invalidQuery, .encoding, .decoding, .work, .expired,
            .reentrant, .cancelled:
            true
        }
    }

    /// See ``PersistenceFailure/legacyCode``.
    public var legacyCode: Int? {
        switch code {
        case .work: 2000
        case .notReady, .opening: 2001
        default: nil
        }
    }
}
