internal import CEssentialsTest
import EssentialsTools

/// A readable description of why a part of the test kit could not be set up, such as a port in use or an invalid key.
public struct TestKitError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What failed, with the system's or OpenSSL's description.
    public let text: String

    /// Creates an error from its text.
    public init(_ text: String) {
        self.text = text
    }

    /// Creates an error from the C target's description, or from a fallback if the description is empty.
    init(_ error: cet_error, fallback: String) {
        self.init(CText.string(error.text) ?? fallback)
    }

    /// Creates an error for a failed system call: "Binding failed: Address already in use."
    init(_ action: String, errorNumber: Int32) {
        self.init("\(action): \(String(cString: strerror(errorNumber))).")
    }

    /// The text.
    public var description: String { text }
}

/// Reads text from the fixed-size character arrays of C structures.
enum CText {
    /// The characters before the first zero; `nil` if there are none. `characters` is a tuple of `CChar`.
    static func string<Characters>(_ characters: Characters) -> String? {
        // The pointer to the tuple's bytes is used only within the closure.
        let text = withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return text.isEmpty ? nil : text
    }
}
