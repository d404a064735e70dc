package import FoundationEssentials

/// Models as JSON.
package enum ModelCoding {
    /// The size up to which a model is decoded where it is read. A larger one is decoded on no actor.
    static let largestInPlace = 16 << 10
    package static let mediaType = "application/json"

    /// The bytes of a model.
    @concurrent
    package static func encode<Value: Codable & Sendable>(_ value: Value) async throws -> Data {
        try encodeInPlace(value)
    }

    /// The bytes of a model, which are made where the function is called. Numbers that JSON lacks become texts.
    package static func encodeInPlace(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try encoder.encode(value)
    }

    /// The model of bytes.
    package static func decode<Value: Codable & Sendable>(_ type: Value.Type, _ data: Data) async throws -> Value {
        data.count <= largestInPlace ? try decodeInPlace(type, data) : try await decodeElsewhere(type, data)
    }

    @concurrent
    private static func decodeElsewhere<Value: Codable & Sendable>(
        _ type: Value.Type, _ data: Data
    ) async throws -> Value {
        try decodeInPlace(type, data)
    }

    /// The model of bytes, which is decoded where the function is called.
    package static func decodeInPlace<Value: Codable & Sendable>(_ type: Value.Type, _ data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try decoder.decode(type, from: data)
    }
}
