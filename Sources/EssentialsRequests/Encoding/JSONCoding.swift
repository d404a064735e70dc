import EssentialsHTTP
import FoundationEssentials

/// JSON as the service writes and reads it: dates as ISO 8601, keys sorted so that equal models give equal bytes.
enum JSONCoding {
    static func encode(_ model: some Encodable) throws(RequestFailure) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        do {
            return try encoder.encode(model)
        } catch {
            throw RequestFailure(
                .encoding, "A body of type \(type(of: model)) could not be written as JSON: \(text(of: error)).",
                underlying: error)
        }
    }

    /// Reads a model from a response.
    ///
    /// - Throws: `emptyBody` when there is no body and the model is not optional, `decoding` when it does not fit.
    static func decode<Model: Decodable>(
        _ type: Model.Type, from response: TransportResponse, host: String?
    ) throws(RequestFailure) -> Model {
        let body = response.body.data ?? Data()
        if body.isEmpty {
            if let optional = Model.self as? any OptionalModel.Type, let nothing = optional.nothing as? Model {
                return nothing
            }
            throw RequestFailure(
                .emptyBody, "The response with status \(response.status.code) has no body, but \(type) was asked for.",
                phase: .decoding, host: host, response: FailedResponse(head: response.head, body: body))
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do {
            return try decoder.decode(type, from: body)
        } catch {
            throw RequestFailure(
                .decoding, "The response's body could not be read as \(type): \(text(of: error)).", phase: .decoding,
                host: host, response: FailedResponse(head: response.head, body: body), underlying: error)
        }
    }

    /// Where in the document and why, without the document's contents.
    private static func text(of error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            "\(path(context.codingPath + [key])) is missing"
        case DecodingError.typeMismatch(let type, let context):
            "\(path(context.codingPath)) is no \(type)"
        case DecodingError.valueNotFound(let type, let context):
            "\(path(context.codingPath)) is null instead of \(type)"
        case DecodingError.dataCorrupted(let context):
            // The decoder names no place for a damaged document, and none for a bad date or number either.
            context.codingPath.isEmpty
                ? "it is no valid JSON, or has a date or number that is not valid"
                : "\(path(context.codingPath)) is not valid"
        case EncodingError.invalidValue(_, let context):
            "\(path(context.codingPath)) has no JSON form"
        default: "\(type(of: error))"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        if keys.isEmpty { return "the document" }
        return "“" + keys.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".") + "”"
    }
}

/// Lets a model be nothing where a body may be empty.
private protocol OptionalModel {
    static var nothing: Any { get }
}

extension Optional: OptionalModel {
    static var nothing: Any { Self.none as Any }
}
