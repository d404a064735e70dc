// swift-format-ignore-file
// The code stands as in the documentation comments.

import EssentialsTestKit
import FoundationEssentials
import Logging
import ServiceEssentials

@testable import EssentialsHTTP

private struct User: Codable, Sendable {}
private struct Problem: Codable, Sendable { var title = "" }
private struct Address: Codable, Sendable {}
private struct Label { var text = "" }

private let app = Application()
private let logger = Logger(label: "app")
private let show = app
private let (name, id) = ("", 7)
private let (address, since, model) = (Address(), Date?.none, User())
private let encoder = JSONEncoder()
private var label: Label { get { Label() } set {} }
private var user: User { get { User() } set {} }
private var requests: any DataRequestService { given() }
private var body: Data { Data() }

// Coding/Charsets/Charset.swift
private func charsetExample() async throws {
    let charset = try Charset("Shift_JIS")
    let text = try charset.decode(body)
    use(text)
}

// Coding/Codecs/BodyCodec.swift
struct PropertyListCodec: BodyCodec {
    func encode(_ model: some Encodable, as mediaType: MediaType) throws -> Data {
        try PropertyListEncoder().encode(model)
    }

    func decode<Model: Decodable>(_ type: Model.Type, from body: Data, as mediaType: MediaType) throws -> Model {
        try PropertyListDecoder().decode(type, from: body)
    }
}

// Coding/Codecs/CodecRegistry.swift
private func codecRegistryExample() async throws {
    var codecs = CodecRegistry.standard
    codecs.register(JSONCodec(keys: .snakeCase), for: MediaPattern(.json))
    let (body, contentType) = try codecs.encode(user, as: .json)
    use(body, contentType)
}

// Coding/Codecs/CodecRegistry.swift
private func codecRegistryExample2() async throws {
    let _: EmptyResponse = try await requests.delete("users/1")
}

// Coding/Codecs/JSONCodec.swift
private func jSONCodecExample() async throws {
    let codec = JSONCodec(dates: .millisecondsSince1970, keys: .snakeCase)
    let odd = JSONCodec(configureDecoder: { $0.allowsJSON5 = true })
    use(codec, odd)
}

// Coding/Codecs/LossyArray.swift
private func lossyArrayExample() async throws {
    let users: LossyArray<User> = try await requests.get("users")
    if users.skippedCount > 0 { logger.warning("users left out", metadata: ["count": "\(users.skippedCount)"]) }
}

// Coding/Codecs/MillisecondsSince1970.swift
private func millisecondsSince1970Example() async throws {
    struct Message: Codable {
        @MillisecondsSince1970 var sent: Date               // 1446337439250
        var edited: Date                                    // "2015-11-01T00:23:59Z"
    }
}

// Coding/Codecs/RequestFailure+Decoding.swift
private func requestFailureDecodingExample() async {
    do throws(RequestFailure) {
        user = try await requests.get("users/1")
    } catch {
        show((try? error.decode(as: Problem.self))?.title ?? error.message)
    }
}

// Coding/JSON/JSONValue.swift
@Listed private func jSONValueExample() async throws -> [Any] {
    let value: JSONValue = ["id": 7, "tags": ["a", "b"], "parent": nil]
    value["tags"]?[0]?.string     // "a"
    let user: JSONValue = ["id": JSONValue(id), "name": "\(name)", "address": try JSONValue(encoding: address)]
    user
}

// Coding/MediaTypes/MediaPattern.swift
@Listed private func mediaPatternExample() async throws -> [Any] {
    try MediaPattern("application/json")     // that type
    try MediaPattern("*/json")               // that subtype of every type
    try MediaPattern("application/*+json")   // every application type with the suffix json
    try MediaPattern("*/*+json")             // every type with the suffix json
    try MediaPattern("text/*")               // every text type
    try MediaPattern("*/*")                  // every type
}

// Coding/MediaTypes/MediaType.swift
@Listed private func mediaTypeExample() async throws -> [Any] {
    let type = try MediaType("Application/Problem+JSON; Charset=\"utf-8\"")
    type.essence                  // "application/problem+json"
    type.suffix                   // "json"
    type.charset                  // "utf-8"
}

// Coding/OrderedEncoding.swift
private func orderedEncodingExample() async throws {
    let data = try encoder.encode(OrderedEncoding(model))
    use(data)
}

// Coding/Parameters/FormEncoding.swift
@Listed private func formEncodingExample() async throws -> [Any] {
    var encoding = FormEncoding.standard
    encoding.arrays = .comma
    try encoding.query(["ids": [1, 2, 3]])     // ids=1,2,3
}

// Coding/Parameters/FormParameterValue.swift
private func formParameterValueExample() async throws {
    func list(role: String, page: Int, ids: [Int], since: Date?) async throws -> [User] {
        try await requests.get("users", parameters: ["role": role, "page": page, "ids": ids, "since": since])
    }
}

// Coding/Parameters/FormParameterValue.swift
enum Role: String, FormParameterValue { case admin, guest }

// Coding/Parameters/FormParameters.swift
@Listed private func formParametersExample() async throws -> [Any] {
    let parameters: FormParameters = ["role": "admin", "page": 2, "tags": ["a", "b"], "all": nil]
    try FormEncoding.standard.query(parameters)     // all&page=2&role=admin&tags[]=a&tags[]=b
    try JSONEncoder().encode(parameters)            // {"all":null,"page":2,"role":"admin","tags":["a","b"]}
}

// Coding/Parameters/FormValue.swift
private func formValueExample() async throws {
    let filter = ["role", 7, since, nil] as FormValue
    use(filter)
}

// Coding/Parameters/QueryItems.swift
@Listed private func queryItemsExample() async throws -> [Any] {
    let items: QueryItems = ["q": "a b", "tag": "x", "tag": "y", "all": nil]
    items.encodedQuery            // q=a%20b&tag=x&tag=y&all
    items.values(for: "tag")      // ["x", "y"]
}
