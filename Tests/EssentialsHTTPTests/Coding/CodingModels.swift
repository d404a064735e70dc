import EssentialsHTTP
import FoundationEssentials

/// A model with two fields.
struct CodedNote: Codable, Equatable {
    var id: Int
    var text: String
}

/// A model with a date and a link.
struct CodedEvent: Codable, Equatable {
    var zone: String
    var at: Date
    var link: String
}

/// A set whose order depends on its capacity.
func shuffledSet<Element>(_ elements: [Element], _ capacity: Int) -> Set<Element> {
    var set = Set<Element>(minimumCapacity: 8 * capacity)
    for element in elements.shuffled() { set.insert(element) }
    return set
}

extension CodecRegistry {
    /// Decodes a text as the body of a response.
    func decode<Model: Decodable>(
        _ type: Model.Type, _ body: String, as contentType: String? = "application/json", status: Int = 200,
        method: HTTPRequest.Method = .get
    ) throws(RequestFailure) -> Model {
        try decode(type, Data(body.utf8), as: contentType, status: status, method: method)
    }

    /// Decodes bytes as the body of a response.
    func decode<Model: Decodable>(
        _ type: Model.Type, _ body: Data, as contentType: String?, status: Int = 200, method: HTTPRequest.Method = .get
    ) throws(RequestFailure) -> Model {
        try decode(
            type, from: body, contentType: contentType,
            response: HTTPResponse(status: .init(code: status), headerFields: [.eTag: "t"]), method: method, host: "h")
    }

    /// Encodes a model and returns the text.
    func text(_ model: some Encodable, as mediaType: MediaType = .json) throws(RequestFailure) -> String {
        String(decoding: try encode(model, as: mediaType).body, as: UTF8.self)
    }
}
