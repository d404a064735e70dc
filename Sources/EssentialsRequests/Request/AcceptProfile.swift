import EssentialsHTTP
import FoundationEssentials

/// Which `Accept` a service sends with requests that have none: neither by their own nor by an interceptor's or the
/// environment's hand.
///
/// ```swift
/// configuration.accept = .seCompatible
/// ```
public enum AcceptProfile: Sendable, Hashable {
    /// `application/json` where a model is asked for, else `*/*`.
    case typed
    /// What the Objective-C library of this name sent, for servers that know it: `application/json; charset=utf-8`, but
    /// `*/*` for downloads and for answers that are wanted as bytes, with which it sent nothing.
    case seCompatible

    /// The field's value.
    func fieldValue(for answer: AnswerKind) -> String {
        switch (self, answer) {
        case (.typed, .model): "application/json"
        case (.seCompatible, .model), (.seCompatible, .response): "application/json; charset=utf-8"
        case (_, .bytes), (.typed, .response): "*/*"
        }
    }
}

/// What the answer to a request is wanted as.
enum AnswerKind: Sendable, Hashable {
    /// Whatever it is: a response, text, or nothing.
    case response
    /// A model that a codec reads.
    case model
    /// Bytes or a file.
    case bytes

    /// What a response is wanted as that is read as a type.
    init<Model>(reading type: Model.Type) {
        if type == Data.self || type == Data?.self || type == [UInt8].self || type == [UInt8]?.self {
            self = .bytes
        } else if type == String.self || type == String?.self || type == EmptyResponse.self
            || type == EmptyResponse?.self
        {
            self = .response
        } else {
            self = .model
        }
    }
}

extension DataRequest {
    /// The same request with its answer wanted as something else.
    func wanting(_ answer: AnswerKind) -> DataRequest {
        var request = self
        request.answer = answer
        return request
    }
}
