public import EssentialsHTTP
public import FoundationEssentials

/// A part of a scripted body, in the order of delivery.
///
/// ```swift
/// transport.on(.get, "/events").answer(pieces: ["data: 1\n\n", .pause(.seconds(5)), .failure(.interrupted)])
/// ```
public enum ScriptedPiece: Sendable, ExpressibleByStringLiteral {
    /// One chunk of a streamed body. Empty chunks are left out.
    case bytes(Data)
    /// A pause on the clock between the previous and the next piece, whether or not the body is being read.
    case pause(Duration)
    /// A failure that ends the body.
    case failure(RequestFailure.Reason)

    /// One chunk with a text in UTF-8.
    public static func text(_ text: String) -> ScriptedPiece { .bytes(Data(text.utf8)) }

    /// One chunk with a text in UTF-8.
    public init(stringLiteral text: String) { self = .text(text) }
}
