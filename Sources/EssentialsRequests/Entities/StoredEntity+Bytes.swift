import EssentialsHTTP
package import EssentialsStorage
import EssentialsTools
package import FoundationEssentials

/// The entity as bytes. Whatever other bytes are read, the result is `nil` or an entity.
extension StoredEntity {
    /// What is stored beside the body.
    package var head: [UInt8] {
        var writer = ByteWriter()
        writer.append(date.timeIntervalSinceReferenceDate.bitPattern)
        writer.append(age.wholeNanoseconds)
        writer.append(UInt16(clamping: status))
        writer.append(UInt8(mediaType == nil ? 0 : 1))
        if let mediaType { writer.append(text: mediaType) }
        headerFields.write(to: &writer)
        return writer.bytes
    }

    /// Reads an entity; `nil` if the head is damaged.
    package init?(head: UnsafeRawBufferPointer, body: Data) {
        guard head.count <= Self.maximumHead else { return nil }
        var reader = ByteReader(head)
        guard let date: UInt64 = reader.number(), let age: Int64 = reader.number(),
            let status: UInt16 = reader.number(), let hasType: UInt8 = reader.number(), hasType <= 1
        else { return nil }
        let interval = Double(bitPattern: date)
        guard interval.isFinite, abs(interval) < 0x1p40, age >= 0 else { return nil }
        var mediaType: String?
        if hasType == 1 {
            guard let text = reader.text() else { return nil }
            mediaType = text
        }
        guard let fields = HTTPFields(&reader), reader.count == 0 else { return nil }
        self.init(
            body: body, mediaType: mediaType, status: Int(status), headerFields: fields,
            date: Date(timeIntervalSinceReferenceDate: interval), age: .nanoseconds(age))
    }
}

/// Header fields as bytes: their number, then the name and the value of each.
extension HTTPFields {
    package func write(to writer: inout ByteWriter) {
        writer.append(UInt32(clamping: count))
        for field in self {
            writer.append(text: field.name.rawName)
            field.withUnsafeBytesOfValue { writer.append(counted: UnsafeRawBufferPointer($0)) }
        }
    }

    /// Reads header fields; `nil` if the bytes are damaged.
    package init?(_ reader: inout ByteReader) {
        guard let count: UInt32 = reader.number() else { return nil }
        self.init()
        for _ in 0..<count {
            guard let name = reader.text().flatMap({ HTTPField.Name($0) }), let bytes = reader.counted() else {
                return nil
            }
            append(HTTPField(name: name, lenientValue: Array(bytes)))
        }
    }
}
