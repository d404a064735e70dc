import EssentialsTools

/// The reason why the system has no route to an address: the error number that a connection attempt would return.
///
/// `ENETUNREACH` means that there is no route. `EHOSTUNREACH`, `EINVAL` and `EACCES` mean a route of the type
/// unreachable, blackhole or prohibit, or a rule with that action. `ENETDOWN` means that the route's interface is down
/// or has no carrier.
public struct RouteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error number, such as `ENETUNREACH`.
    public let code: Int32

    /// Creates an error from an error number.
    public init(code: Int32) { self.code = code }

    /// The system's text for the number, such as “Network is unreachable”.
    public var description: String {
        var buffer = [CChar](repeating: 0, count: 256)
        // Glibc's Swift import is the XSI variant, which fills the buffer.
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether the lookup itself failed, which says nothing about the route.
    var isAboutKernel: Bool {
        switch code {
        case ENOMEM, ENOBUFS, EAGAIN, EINTR, EBUSY, EMFILE, ENFILE, EPERM: true
        default: false
        }
    }
}

extension RouteError {
    /// There is no route to the host.
    public static let noRoute = RouteError(code: ENETUNREACH)
    /// The route's interface is down or has no carrier.
    public static let interfaceDown = RouteError(code: ENETDOWN)
}
