extension ServiceLocatorError {
    /// The kind of failure. Later versions may add reasons, so compare with `==` and handle unknown ones.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        private enum Code: String, Sendable, CaseIterable {
            case missing, duplicate, cycle, constructionFailed, tooManyRegistrations, closed, asynchronous
            case argumentMismatch, notConforming, serviceGone, locatorGone, cancelled
        }

        private let code: Code

        /// A stable name such as `missing`, for logs and scripts.
        public var name: String { code.rawValue }
        /// The same as ``name``.
        public var description: String { name }

        /// Every reason of this version.
        public static let all: [Reason] = Code.allCases.map { Reason(code: $0) }

        /// Neither the locator nor its parents have a registration for the type and name.
        public static let missing = Reason(code: .missing)
        /// The locator already has a registration for the type and name.
        public static let duplicate = Reason(code: .duplicate)
        /// Building the service needs the service itself.
        public static let cycle = Reason(code: .cycle)
        /// A factory or an assembly threw an error.
        public static let constructionFailed = Reason(code: .constructionFailed)
        /// The locator has accepted its maximum number of registrations.
        public static let tooManyRegistrations = Reason(code: .tooManyRegistrations)
        /// The locator, or the parent that has the registration, was closed.
        public static let closed = Reason(code: .closed)
        /// The registration's factory is asynchronous, and the resolve is not.
        public static let asynchronous = Reason(code: .asynchronous)
        /// The factory takes arguments of other types than the resolve passed.
        public static let argumentMismatch = Reason(code: .argumentMismatch)
        /// The object does not have one of the types that it was registered for.
        public static let notConforming = Reason(code: .notConforming)
        /// The object of a weak registration, handle or proxy was released.
        public static let serviceGone = Reason(code: .serviceGone)
        /// The locator of a weak reference was released.
        public static let locatorGone = Reason(code: .locatorGone)
        /// The task that waited for an asynchronous factory was cancelled.
        public static let cancelled = Reason(code: .cancelled)
    }
}

extension ServiceLocatorError.Reason {
    /// What to try, unless the error has a more specific remedy. `nil` if nothing helps.
    public var remedy: String? {
        switch code {
        case .missing:
            "Register it in one of them before it is resolved, or use resolveOptional if it may be missing."
        case .duplicate:
            "Register it once, give one of them a name, or use replace or registerIfAbsent."
        case .cycle:
            "Let one of these services resolve the next one when it is used instead of when it is built; to wrap a "
                + "parent's service of the same type, resolve that from the locator's parent."
        case .constructionFailed:
            "Correct the cause and resolve again; the factory is kept and runs again."
        case .closed:
            "Resolve before the scope ends, or from a locator that lives longer."
        case .asynchronous:
            "Use resolveAsync, or register the service itself once it is built."
        case .argumentMismatch:
            "Resolve with arguments of exactly these types, in this order."
        case .notConforming:
            "Register it as a type that it conforms to, or make it conform."
        case .serviceGone:
            "Keep the object where it is owned for as long as it is used, or register it strongly."
        case .locatorGone:
            "Keep the locator in the bootstrap code for as long as services are resolved."
        case .cancelled:
            nil
        case .tooManyRegistrations:
            "Keep changing values inside a service instead of registering each one, or raise registrationLimit."
        }
    }
}
