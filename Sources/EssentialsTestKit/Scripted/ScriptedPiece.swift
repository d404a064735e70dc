public import EssentialsHTTP
public import FoundationEssentials

/// A part of a scripted answer's body, in the order in which it comes.
///
/// ```swift
/// transport.on(.get, "/events").answer(pieces: ["data: 1\n\n", .pause(.seconds(5)), .failure(.interrupted)])
/// ```
public enum ScriptedPiece: Sendable, ExpressibleByStringLiteral {
    /// One chunk of a streamed body; empty ones are left out.
    case bytes(Data)
    /// Time on the clock between the piece before and the one after, whether or not somebody reads meanwhile.
    case pause(Duration)
    /// The body ends here with a failure.
    case failure(RequestFailure.Reason)

    /// One chunk: a text in UTF-8.
    public static func text(_ text: String) -> ScriptedPiece { .bytes(Data(text.utf8)) }

    /// One chunk: a text in UTF-8.
    public init(stringLiteral text: String) { self = .text(text) }
}
