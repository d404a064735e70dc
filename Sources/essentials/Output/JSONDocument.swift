import EssentialsHTTP
import FoundationEssentials
import ServiceEssentials

/// A JSON document whose text is printed and stored as the server has sent it.
struct JSONDocument: Codable, Sendable, Hashable {
    let text: String

    init(text: String) { self.text = text }

    /// Reads the text as it is stored: as a string.
    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    /// Codecs that read such documents from responses, and refuse other bodies.
    static func codecs() throws(RequestFailure) -> CodecRegistry {
        CodecRegistry().registering(JSONDocumentCodec(), for: try MediaPattern("*/*"))
    }
}

/// Reads a response as a ``JSONDocument``.
private struct JSONDocumentCodec: BodyCodec {
    func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data {
        throw RequestFailure(.encoding, "A request of the model cache has no body.")
    }

    func decode<Model: Decodable>(_ type: Model.Type, from body: Data, as mediaType: MediaType) throws -> Model {
        guard mediaType.subtype == "json" || mediaType.suffix == "json" else {
            throw RequestFailure(
                .decoding, "The response is \(mediaType) and not JSON.",
                remedy: "Leave out --model-cache, which stores only JSON documents.")
        }
        guard let text = String(validating: body, as: UTF8.self), JSONParser.isValid(text),
            let model = JSONDocument(text: text) as? Model
        else {
            throw RequestFailure(
                .decoding, "The response is not valid JSON.",
                remedy: "Leave out --model-cache to see the body.")
        }
        return model
    }
}
