/// Why a part of the test kit could not be set up: no port, no key, a certificate that does not fit. For people to read.
public struct TestKitError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What failed, and the system's or OpenSSL's words for it.
    public let text: String

    /// Makes an error from its text.
    public init(_ text: String) {
        self.text = text
    }

    /// The text.
    public var description: String { text }
}
