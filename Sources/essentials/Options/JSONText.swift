import ArgumentParser
import FoundationEssentials

/// Checks that a text is JSON, before it is sent as it stands.
enum JSONText {
    /// The text itself.
    static func checked(_ text: String) throws -> String {
        do {
            _ = try JSONDecoder().decode(AnyJSON.self, from: Data(text.utf8))
        } catch {
            throw ValidationError("It is no valid JSON. Check its quotes, commas and brackets.")
        }
        return text
    }
}

/// Any JSON value. Every part is decoded, because the decoder checks numbers and strings only when they are asked for.
private struct AnyJSON: Decodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: Key.self) {
            for key in object.allKeys { _ = try object.decode(AnyJSON.self, forKey: key) }
        } else if var array = try? decoder.unkeyedContainer() {
            while !array.isAtEnd { _ = try array.decode(AnyJSON.self) }
        } else {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() || (try? value.decode(Bool.self)) != nil { return }
            if (try? value.decode(String.self)) == nil { _ = try value.decode(Double.self) }
        }
    }
}
