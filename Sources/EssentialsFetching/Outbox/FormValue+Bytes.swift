import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import FoundationEssentials

/// Named values as bytes. Reading any other bytes gives `nil` or some values.
extension FormParameters {
    /// - Throws: `encoding` if values are nested too deeply.
    func write(to writer: inout ByteWriter) throws(RequestFailure) {
        try FormValue.dictionary(values).write(to: &writer, depth: 0)
    }

    init?(_ reader: inout ByteReader) {
        guard case .dictionary(let values) = FormValue(&reader, depth: 0) else { return nil }
        self.init()
        self.values = values
    }
}

extension FormValue {
    private enum Kind: UInt8 {
        case null, text, integer, unsigned, number, no, yes, date, data, array, set, dictionary
    }

    fileprivate func write(to writer: inout ByteWriter, depth: Int) throws(RequestFailure) {
        guard depth <= FormParameters.maximumDepth else {
            throw RequestFailure(.encoding, "The parameters are nested too deeply.")
        }
        writer.append(kind.rawValue)
        switch self {
        case .null, .boolean: break
        case .text(let text): writer.append(text: text)
        case .integer(let number): writer.append(number)
        case .unsigned(let number): writer.append(number)
        case .number(let number): writer.append(number.bitPattern)
        case .date(let date): writer.append(date.timeIntervalSinceReferenceDate.bitPattern)
        case .data(let data): data.withUnsafeBytes { writer.append(counted: $0) }
        case .array(let values): try Self.write(values, to: &writer, depth)
        case .set(let values): try Self.write(Array(values), to: &writer, depth)
        case .dictionary(let values):
            writer.append(UInt32(clamping: values.count))
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                writer.append(text: name)
                try value.write(to: &writer, depth: depth + 1)
            }
        }
    }

    private static func write(_ values: [FormValue], to writer: inout ByteWriter, _ depth: Int) throws(RequestFailure) {
        writer.append(UInt32(clamping: values.count))
        for value in values { try value.write(to: &writer, depth: depth + 1) }
    }

    private var kind: Kind {
        switch self {
        case .null: .null
        case .text: .text
        case .integer: .integer
        case .unsigned: .unsigned
        case .number: .number
        case .boolean(let value): value ? .yes : .no
        case .date: .date
        case .data: .data
        case .array: .array
        case .set: .set
        case .dictionary: .dictionary
        }
    }

    fileprivate init?(_ reader: inout ByteReader, depth: Int) {
        guard depth <= FormParameters.maximumDepth, let kind: UInt8 = reader.number(), let kind = Kind(rawValue: kind)
        else { return nil }
        switch kind {
        case .null: self = .null
        case .no, .yes: self = .boolean(kind == .yes)
        case .text:
            guard let text = reader.text() else { return nil }
            self = .text(text)
        case .integer:
            guard let number: Int64 = reader.number() else { return nil }
            self = .integer(number)
        case .unsigned:
            guard let number: UInt64 = reader.number() else { return nil }
            self = .unsigned(number)
        case .number:
            guard let bits: UInt64 = reader.number() else { return nil }
            self = .number(Double(bitPattern: bits))
        case .date:
            guard let bits: UInt64 = reader.number() else { return nil }
            self = .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
        case .data:
            guard let bytes = reader.counted() else { return nil }
            self = .data(Data(bytes))
        case .array, .set:
            guard let values = Self.values(&reader, depth) else { return nil }
            self = kind == .array ? .array(values) : .set(Set(values))
        case .dictionary:
            guard let values = Self.named(&reader, depth) else { return nil }
            self = .dictionary(values)
        }
    }

    private static func values(_ reader: inout ByteReader, _ depth: Int) -> [FormValue]? {
        guard let count: UInt32 = reader.number(), count <= reader.count else { return nil }
        var values: [FormValue] = []
        for _ in 0..<count {
            guard let value = FormValue(&reader, depth: depth + 1) else { return nil }
            values.append(value)
        }
        return values
    }

    private static func named(_ reader: inout ByteReader, _ depth: Int) -> [String: FormValue]? {
        guard let count: UInt32 = reader.number(), count <= reader.count else { return nil }
        var values: [String: FormValue] = [:]
        for _ in 0..<count {
            guard let name = reader.text(), let value = FormValue(&reader, depth: depth + 1) else { return nil }
            values[name] = value
        }
        return values
    }
}
