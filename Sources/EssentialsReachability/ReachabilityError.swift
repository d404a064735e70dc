import EssentialsTools

/// The error of creating a tracker or resolving a name.
///
/// ```swift
/// do throws(ReachabilityError) {
///     tracker = try ReachabilityTracker(host: "api.example.com")
/// } catch {
///     log(error.message, error.remedy)
/// }
/// ```
public struct ReachabilityError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String { case invalidTarget, system, resolution }
        private let kind: Kind

        /// The text is not a valid host.
        public static let invalidTarget = Reason(kind: .invalidTarget)
        /// The system could not provide a socket or a thread.
        public static let system = Reason(kind: .system)
        /// A name has no address, or it could not be resolved.
        public static let resolution = Reason(kind: .resolution)

        /// The reason's name, stable across versions.
        public var name: String { kind.rawValue }
        /// The same as ``name``.
        public var description: String { name }
    }

    /// The kind of error.
    public let reason: Reason
    /// A description of the error in one sentence.
    public let message: String
    /// A suggestion to resolve the error.
    public let remedy: String

    /// Creates an error for a custom resolver.
    public init(_ reason: Reason, _ message: String, remedy: String) {
        self.reason = reason
        self.message = message
        self.remedy = remedy
    }

    /// The reason, the message and the remedy in one text.
    public var description: String { "\(reason): \(message) \(remedy)" }

    /// Creates an error from the calling thread's `errno`. Call it immediately after the failed system call.
    static func system(_ what: String) -> ReachabilityError { system(what, code: errno) }

    static func system(_ what: String, code: Int32) -> ReachabilityError {
        let remedy =
            switch code {
            case EMFILE, ENFILE: "Close files, or raise the limit of open files (ulimit -n)."
            case EAGAIN: "Raise the limit on threads."
            case EAFNOSUPPORT, EPROTONOSUPPORT, EPERM, EACCES: "Allow netlink sockets (AF_NETLINK) in the sandbox."
            default: "Check the system's log."
            }
        return ReachabilityError(.system, "\(what): \(RouteError(code: code)).", remedy: remedy)
    }
}
