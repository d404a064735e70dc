import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// An entry as it is stored: the request, and what belongs to it in the outbox.
///
/// The bytes are: the mark `SEoutbox`, the version of the format, the lengths of head and body, a checksum of everything
/// else, the head and the body. Numbers have the least significant byte first. A body that was read from a file, or is
/// large, is a file of its own.
struct OutboxRecord: Sendable {
    /// What was read.
    enum Content: Sendable {
        case record(OutboxRecord)
        case damaged
        /// Bytes of another version of this format.
        case otherVersion
    }

    /// The version of the format. The first one, which had no times of the machine and no hash of the environment's header
    /// fields, is still read.
    static let version: UInt32 = 2
    /// The maximum size of a body that is stored with its entry.
    static let largestInlineBody = 64 << 10
    /// The maximum size of everything that is stored besides the body.
    static let maximumHead = 1 << 20
    private static let mark = Array("SEoutbox".utf8)
    /// The size of what stands before the checksum.
    private static let startSize = 24

    var id: OutboxEntry.ID
    var date: Date
    /// When it was added, by the clock of the machine; `nil` if that is not known.
    var bootTime: BootTime?
    var partition: String
    var environment: OutboxEnvironment
    var orderingKey: String
    var idempotencyKey: String
    var parts: StoredRequestParts
    /// The size of the file that holds the body; `nil` if there is none.
    var bodyFileSize: UInt64?
    /// The checksum of that file; `nil` if it is not known.
    var bodyChecksum: UInt64?

    // MARK: Writing

    /// The bytes of the record.
    ///
    /// - Throws: `encoding` if parameters are nested too deeply, `tooLarge` if the head is too large.
    func bytes() throws(RequestFailure) -> [UInt8] {
        let head = try head()
        guard head.count <= Self.maximumHead else {
            throw RequestFailure(
                .tooLarge, "The request has \(head.count) bytes without its body, too many for an outbox.",
                remedy: "Send large values in the body.")
        }
        var body = Data()
        if bodyFileSize == nil, case .bytes(let bytes) = parts.body { body = bytes }
        var writer = ByteWriter()
        writer.append(Self.mark)
        writer.append(Self.version)
        writer.append(UInt32(clamping: head.count))
        writer.append(UInt64(body.count))
        let sum = writer.bytes.withUnsafeBytes { StableHash.checksum($0) }
        let headSum = head.withUnsafeBytes { StableHash.checksum($0, sum) }
        writer.append(body.withUnsafeBytes { StableHash.checksum($0, headSum) })
        writer.append(head)
        body.withUnsafeBytes { writer.append($0) }
        return writer.bytes
    }

    private enum BodyKind: UInt8 { case none, parameters, bytes, file }

    private var bodyKind: BodyKind {
        if bodyFileSize != nil { return .file }
        return switch parts.body {
        case .none, .pieces: .none
        case .parameters: .parameters
        case .bytes: .bytes
        }
    }

    private func head() throws(RequestFailure) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(id.number)
        writer.append(date.timeIntervalSinceReferenceDate.bitPattern)
        writer.append(text: bootTime?.boot ?? "")
        writer.append(bootTime?.elapsed.wholeNanoseconds ?? 0)
        for text in [environment.name, environment.baseURL, environment.fields] { writer.append(text: text) }
        for text in [partition, orderingKey, idempotencyKey, parts.method.rawValue, parts.path] {
            writer.append(text: text)
        }
        writer.append(text: parts.base?.description ?? "")
        let flags = [parts.isDefined, parts.hasWholeQuery, parts.usesCookies]
        writer.append(flags.enumerated().reduce(UInt8(0)) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) })
        writer.append(UInt32(clamping: parts.query.items.count))
        for item in parts.query.items {
            writer.append(text: item.name)
            writer.append(UInt8(item.value == nil ? 0 : 1))
            if let value = item.value { writer.append(text: value) }
        }
        try parts.parameters.write(to: &writer)
        writer.append(UInt32(clamping: parts.headerFields.count))
        for field in parts.headerFields {
            writer.append(text: field.name.rawName)
            field.withUnsafeBytesOfValue { writer.append(counted: UnsafeRawBufferPointer($0)) }
        }
        switch parts.statuses {
        case .success: writer.append(UInt32(0))
        case .any: writer.append(UInt32.max)
        case .ranges(let ranges):
            writer.append(UInt32(clamping: ranges.count))
            for range in ranges {
                writer.append(Int32(clamping: range.lowerBound))
                writer.append(Int32(clamping: range.upperBound))
            }
        }
        writer.append(bodyKind.rawValue)
        if let bodyFileSize {
            writer.append(bodyFileSize)
            writer.append(bodyChecksum ?? 0)
        }
        if case .parameters(let parameters) = parts.body { try parameters.write(to: &writer) }
        return writer.bytes
    }

    // MARK: Reading

    /// Reads the bytes of a file.
    static func content(of bytes: [UInt8]) -> Content {
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard reader.take(mark.count).map({ $0.elementsEqual(mark) }) == true,
                let version: UInt32 = reader.number()
            else { return .damaged }
            guard (1...Self.version).contains(version) else { return .otherVersion }
            guard let headSize: UInt32 = reader.number(), headSize <= maximumHead,
                let bodySize: UInt64 = reader.number(), let checksum: UInt64 = reader.number(),
                bodySize <= UInt64(reader.count), UInt64(headSize) + bodySize == UInt64(reader.count),
                let head = reader.take(Int(headSize)), let body = reader.take(Int(bodySize))
            else { return .damaged }
            let start = UnsafeRawBufferPointer(rebasing: bytes[..<startSize])
            let sum = StableHash.checksum(body, StableHash.checksum(head, StableHash.checksum(start)))
            guard sum == checksum, let record = OutboxRecord(version, head: head, body: body) else {
                return .damaged
            }
            return .record(record)
        }
    }

    private init?(_ version: UInt32, head: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
        var reader = ByteReader(head)
        guard let id: UInt64 = reader.number(), let dateBits: UInt64 = reader.number() else { return nil }
        if version > 1 {
            guard let boot = reader.text(), let elapsed: Int64 = reader.number() else { return nil }
            if !boot.isEmpty { bootTime = BootTime(boot: boot, elapsed: .nanoseconds(elapsed)) }
        }
        guard let (environment, partition) = Self.place(version, &reader), let orderingKey = reader.text(),
            let idempotencyKey = reader.text(),
            let method = reader.text().flatMap({ HTTPRequest.Method($0) }), let path = reader.text(),
            let baseText = reader.text(), let flags: UInt8 = reader.number()
        else { return nil }
        let interval = Double(bitPattern: dateBits)
        guard interval.isFinite, abs(interval) < 0x1p40 else { return nil }
        var base: RequestURL?
        if !baseText.isEmpty {
            guard let url = try? RequestURL(baseText) else { return nil }
            base = url
        }
        guard let query = Self.query(&reader), let parameters = FormParameters(&reader),
            let fields = Self.fields(&reader), let statuses = Self.statuses(&reader),
            let kindNumber: UInt8 = reader.number(), let kind = BodyKind(rawValue: kindNumber)
        else { return nil }
        var stored = StoredRequestParts.Body.none
        switch kind {
        case .none: break
        case .parameters:
            guard let parameters = FormParameters(&reader) else { return nil }
            stored = .parameters(parameters)
        case .bytes: stored = .bytes(Data(body))
        case .file:
            guard let size: UInt64 = reader.number() else { return nil }
            bodyFileSize = size
            if version > 1 {
                guard let checksum: UInt64 = reader.number() else { return nil }
                bodyChecksum = checksum
            }
        }
        guard reader.count == 0 else { return nil }
        self.id = OutboxEntry.ID(number: id)
        date = Date(timeIntervalSinceReferenceDate: interval)
        (self.partition, self.environment) = (partition, environment)
        (self.orderingKey, self.idempotencyKey) = (orderingKey, idempotencyKey)
        parts = StoredRequestParts(
            method: method, path: path, base: base, isDefined: flags & 1 != 0, hasWholeQuery: flags & 2 != 0,
            query: query, parameters: parameters, headerFields: fields, body: stored, statuses: statuses,
            usesCookies: flags & 4 != 0)
    }

    init(
        id: OutboxEntry.ID, date: Date, bootTime: BootTime? = nil, partition: String, environment: OutboxEnvironment,
        orderingKey: String, idempotencyKey: String, parts: StoredRequestParts
    ) {
        self.id = id
        (self.date, self.bootTime) = (date, bootTime)
        self.partition = partition
        self.environment = environment
        self.orderingKey = orderingKey
        self.idempotencyKey = idempotencyKey
        self.parts = parts
    }

    private static func place(
        _ version: UInt32, _ reader: inout ByteReader
    ) -> (environment: OutboxEnvironment, partition: String)? {
        guard version > 1 else {
            guard let partition = reader.text(), let environment = reader.text() else { return nil }
            return (OutboxEnvironment(firstFormat: environment), partition)
        }
        guard let name = reader.text(), let baseURL = reader.text(), let fields = reader.text(),
            let partition = reader.text()
        else { return nil }
        return (OutboxEnvironment(name: name, baseURL: baseURL, fields: fields), partition)
    }

    private static func query(_ reader: inout ByteReader) -> QueryItems? {
        guard let count: UInt32 = reader.number() else { return nil }
        var items: [QueryItems.Item] = []
        for _ in 0..<count {
            guard let name = reader.text(), let hasValue: UInt8 = reader.number(), hasValue <= 1 else { return nil }
            var value: String?
            if hasValue == 1 {
                guard let text = reader.text() else { return nil }
                value = text
            }
            items.append(QueryItems.Item(name: name, value: value))
        }
        return QueryItems(items)
    }

    private static func fields(_ reader: inout ByteReader) -> HTTPFields? {
        guard let count: UInt32 = reader.number() else { return nil }
        var fields = HTTPFields()
        for _ in 0..<count {
            guard let name = reader.text().flatMap({ HTTPField.Name($0) }), let bytes = reader.counted() else {
                return nil
            }
            fields.append(HTTPField(name: name, lenientValue: Array(bytes)))
        }
        return fields
    }

    private static func statuses(_ reader: inout ByteReader) -> StoredRequestParts.Statuses? {
        guard let count: UInt32 = reader.number() else { return nil }
        if count == 0 { return .success }
        if count == .max { return .any }
        var ranges: [ClosedRange<Int>] = []
        for _ in 0..<count {
            guard let lower: Int32 = reader.number(), let upper: Int32 = reader.number(), lower <= upper else {
                return nil
            }
            ranges.append(Int(lower)...Int(upper))
        }
        return .ranges(ranges)
    }
}

extension OutboxRecord {
    /// The entry of the record.
    ///
    /// - Parameter byteCount: The size of its files.
    func entry(byteCount: Int) -> OutboxEntry {
        OutboxEntry(
            id: id, method: parts.method, path: Self.shownPath(parts.path), orderingKey: OrderingKey(orderingKey),
            partition: EntityPartition(partition), date: date, idempotencyKey: idempotencyKey, byteCount: byteCount,
            bootTime: bootTime, environment: environment)
    }

    /// A path without its query, which may hold secrets.
    private static func shownPath(_ path: String) -> String {
        String(Substring(path.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }))
    }
}

extension OutboxFailure {
    /// The failure as bytes.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(OutboxRecord.version)
        writer.append(text: reason.name)
        writer.append(Int32(clamping: status ?? -1))
        writer.append(text: message)
        writer.append(date.timeIntervalSinceReferenceDate.bitPattern)
        writer.append(UInt8(isByAge ? 1 : 0))
        writer.append(writer.bytes.withUnsafeBytes { StableHash.checksum($0) })
        return writer.bytes
    }

    /// Reads a failure. That there is one matters more than what it was, so damaged bytes give a general one.
    init(bytes: [UInt8], date: Date) {
        let read = bytes.withUnsafeBytes { bytes -> OutboxFailure? in
            guard bytes.count >= 8 else { return nil }
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - 8)]))
            let sum = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self))
            guard sum == StableHash.checksum(UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - 8)])),
                let version: UInt32 = reader.number(), (1...OutboxRecord.version).contains(version),
                let name = reader.text(), let reason = RequestFailure.Reason.all.first(where: { $0.name == name }),
                let status: Int32 = reader.number(), let message = reader.text(), let bits: UInt64 = reader.number()
            else { return nil }
            var isByAge = reason == .timeout && message.hasPrefix(OutboxFailure.expiredMessage)
            if version > 1 {
                guard let flag: UInt8 = reader.number() else { return nil }
                isByAge = flag == 1
            }
            return OutboxFailure(
                reason: reason, status: status < 0 ? nil : Int(status), message: message,
                date: Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)), isByAge: isByAge)
        }
        self =
            read
            ?? OutboxFailure(
                reason: .file, message: "Why the entry was given up cannot be read any more.", date: date)
    }
}
