import Glibc

/// Why a tracker could not be made, or a name not be resolved.
///
/// ```swift
/// do throws(ReachabilityError) {
///     tracker = try ReachabilityTracker(host: "api.example.com")
/// } catch {
///     log(error.message, error.remedy)
/// }
/// ```
public struct ReachabilityError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of error it is.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String { case invalidTarget, system, resolution }
        private let kind: Kind

        /// The text names no host.
        public static let invalidTarget = Reason(kind: .invalidTarget)
        /// The system gave no socket or no thread.
        public static let system = Reason(kind: .system)
        /// A name has no address, or nobody could be asked for one.
        public static let resolution = Reason(kind: .resolution)

        /// The reason's name, stable across versions.
        public var name: String { kind.rawValue }
        /// The same as ``name``.
        public var description: String { name }
    }

    /// What kind of error it is.
    public let reason: Reason
    /// What happened, in one sentence.
    public let message: String
    /// What to try.
    public let remedy: String

    /// Makes an error. For resolvers of your own.
    public init(_ reason: Reason, _ message: String, remedy: String) {
        self.reason = reason
        self.message = message
        self.remedy = remedy
    }

    /// Reason, message and remedy in one text.
    public var description: String { "\(reason): \(message) \(remedy)" }

    /// What the last call of this thread left in `errno`. Called before anything else is.
    static func system(_ what: String) -> ReachabilityError { system(what, code: errno) }

    static func system(_ what: String, code: Int32) -> ReachabilityError {
        let remedy =
            switch code {
            case EMFILE, ENFILE: "Close files, or raise the limit of open ones (ulimit -n)."
            case EAGAIN: "Raise the limit of threads."
            case EAFNOSUPPORT, EPROTONOSUPPORT, EPERM, EACCES: "Allow netlink sockets (AF_NETLINK) in the sandbox."
            default: "Check the system's log."
            }
        return ReachabilityError(.system, "\(what): \(RouteError(code: code)).", remedy: remedy)
    }
}
