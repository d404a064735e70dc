import EssentialsHTTP
import FoundationEssentials

/// Which `Accept` a service sends with requests that have none of their own, of an interceptor or of the environment.
///
/// ```swift
/// configuration.accept = .seCompatible
/// ```
public enum AcceptProfile: Sendable, Hashable {
    /// `application/json` for requests for a model, `*/*` for all others.
    case typed
    /// What the Objective-C library of this name sent, for servers that know it: `application/json; charset=utf-8`, but
    /// `*/*` for downloads and for responses that are read as bytes, for which it sent nothing.
    case seCompatible

    /// The field's value.
    func fieldValue(for kind: ResponseKind) -> String {
        switch (self, kind) {
        case (.typed, .model): "application/json"
        case (.seCompatible, .model), (.seCompatible, .response): "application/json; charset=utf-8"
        case (_, .bytes), (.typed, .response): "*/*"
        }
    }
}

/// What the response to a request is read as.
enum ResponseKind: Sendable, Hashable {
    /// A response, text, or nothing.
    case response
    /// A model that a codec reads.
    case model
    /// Bytes or a file.
    case bytes

    /// The kind of a response that is read as a type.
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
