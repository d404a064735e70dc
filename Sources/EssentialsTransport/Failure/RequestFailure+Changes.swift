/// Copies of a failure with one part replaced. Everything else is kept: reason, phase, host, request, attempts, response,
/// certificates and the underlying error.
///
/// ```swift
/// throw failure.with(message: "The name or the password is wrong.").with(remedy: nil)
/// ```
extension RequestFailure {
    /// The failure with a message for people, which becomes its ``message`` and its `summary`.
    ///
    /// The text is shown as it is, also in logs, so it must not contain secrets.
    public func with(message: String) -> RequestFailure {
        changed { content in
            content.message = message
            content.hasOwnMessage = true
        }
    }

    /// The failure with another ``remedy``, an imperative sentence without secrets. `nil` means the remedy of the reason.
    public func with(remedy: String?) -> RequestFailure { changed { $0.remedy = remedy } }

    /// The failure with another error model, which ``errorModel(as:)`` returns. `nil` removes the model.
    ///
    /// A failure without a response has no place for a model, and is returned unchanged.
    public func with(errorModel: (any Sendable)?) -> RequestFailure { changed { $0.response?.model = errorModel } }

    /// The message that was set by ``with(message:)``, of this failure or of the failures that caused it, the outermost
    /// first; `nil` if there is none.
    package var ownMessage: String? {
        var failure: RequestFailure? = self
        // The chain of causes can be long.
        for _ in 0..<Self.maximumDepth {
            guard let current = failure else { return nil }
            if current.hasOwnMessage { return current.message }
            failure = current.underlying as? RequestFailure
        }
        return nil
    }

    /// The maximum number of nested failures that are searched for a message.
    private static let maximumDepth = 16
}
