#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Converts errors of encoders and decoders into failures that name the place and the cause, without the contents.
enum CodingFault {
    static func encoding(_ error: any Error, _ model: Any.Type, as form: String) -> RequestFailure {
        if let failure = error as? RequestFailure { return failure }
        return RequestFailure(
            .encoding, "A body of type \(model) could not be encoded as \(form): \(text(of: error)).",
            underlying: error)
    }

    /// - Parameter json: The JSON document, if there is one, to locate a syntax error.
    static func decoding(_ error: any Error, _ model: Any.Type, json: Data? = nil) -> RequestFailure {
        if let failure = error as? RequestFailure { return failure }
        return RequestFailure(
            .decoding, "The body could not be decoded as \(model): \(text(of: error, json: json)).", phase: .decoding,
            underlying: error)
    }

    private static func text(of error: any Error, json: Data? = nil) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            "\(path(context.codingPath + [key])) is missing"
        case DecodingError.typeMismatch(let type, let context):
            "\(path(context.codingPath)) is not of type \(type)"
        case DecodingError.valueNotFound(let type, let context):
            "\(path(context.codingPath)) is null instead of \(type)"
        case DecodingError.dataCorrupted(let context):
            context.codingPath.isEmpty ? damage(json) : "\(path(context.codingPath)) is not valid"
        case EncodingError.invalidValue(_, let context):
            "\(path(context.codingPath)) cannot be represented"
        default: "\(type(of: error))"
        }
    }

    /// A decoder reports no place for a malformed document, nor for a number that does not fit its type.
    private static func damage(_ json: Data?) -> String {
        guard let json else { return "the document is not valid" }
        return JSONParser.fault(in: json).map { "it is not valid JSON, \($0)" }
            ?? "it is not valid JSON, or contains an invalid date or number"
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        if keys.isEmpty { return "the document" }
        // A name can come from the document if the model is a dictionary.
        let names = keys.map { $0.intValue.map { "[\($0)]" } ?? RequestFailure.shown($0.stringValue) }
        return "“" + names.joined(separator: ".") + "”"
    }
}
