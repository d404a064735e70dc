import EssentialsHTTP
import FoundationEssentials

/// The `Accept` field of requests for which neither the request, an interceptor nor the environment sets one.
///
/// ```swift
/// configuration.accept = .seCompatible
/// ```
public enum AcceptProfile: Sendable, Hashable {
    /// `application/json` for requests that decode a model, `*/*` for all others.
    case typed
    /// The value of the Objective-C library of this name, for servers that depend on it:
    /// `application/json; charset=utf-8`. Downloads and requests for bytes send `*/*`; that library sent no field for
    /// them.
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

/// The kind of value that is read from a response.
package enum ResponseKind: Sendable, Hashable {
    /// The response itself, text, or nothing.
    case response
    /// A model that a codec decodes.
    case model
    /// Bytes or a file.
    case bytes

    /// The kind for a result type.
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
