import EssentialsHTTP
import EssentialsRequests
import EssentialsStorage
import EssentialsTools
import FoundationEssentials

/// An entry as it is stored: the request, and its data in the outbox.
///
/// The bytes are a record with the mark `SEoutbox` and two parts: the head and the body. A body that was read from a
/// file, or that is large, has its own file.
struct OutboxRecord: Sendable {
    /// The result of reading.
    enum Content: Sendable {
        case record(OutboxRecord)
        case damaged
        /// Bytes of another version of this format.
        case otherVersion
    }

    /// The format of the file. Entries of earlier versions are left to the program that has written them.
    static let format = RecordFormat(mark: "SEoutbox", version: 4, partCount: 2)
    /// The maximum size of a body that is stored with its entry.
    static let largestInlineBody = 64 << 10
    /// The maximum size of everything that is stored except the body.
    static let maximumHead = 1 << 20

    var id: OutboxEntry.ID
    var date: Date
    /// When it was added, by the clock of the machine; `nil` if that is not known.
    var bootTime: BootTime?
    var partition: String
    var environment: OutboxEnvironment
    var orderingKey: String
    var idempotencyKey: String
    var parts: StoredRequestParts
    /// The size of the file that holds the body; `nil` if the body has no file.
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
        return Self.format.bytes(of: [head, Array(body)])
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
        for text in [parts.base?.description, parts.urlTemplate] { writer.append(text: text ?? "") }
        let flags = [parts.isDefined, parts.hasWholeQuery, parts.usesCookies]
        writer.append(flags.enumerated().reduce(UInt8(0)) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) })
        writer.append(UInt32(clamping: parts.query.items.count))
        for item in parts.query.items {
            writer.append(text: item.name)
            writer.append(UInt8(item.value == nil ? 0 : 1))
            if let value = item.value { writer.append(text: value) }
        }
        try parts.parameters.write(to: &writer)
        parts.headerFields.write(to: &writer)
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
            switch format.content(of: bytes) {
            case .otherVersion: return .otherVersion
            case .damaged: return .damaged
            case .record(_, let parts):
                let (head, body) = (bytes[parts[0]], bytes[parts[1]])
                guard head.count <= maximumHead,
                    let record = OutboxRecord(
                        head: UnsafeRawBufferPointer(rebasing: head), body: UnsafeRawBufferPointer(rebasing: body))
                else { return .damaged }
                return .record(record)
            }
        }
    }

    private init?(head: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) {
        var reader = ByteReader(head)
        guard let id: UInt64 = reader.number(), let dateBits: UInt64 = reader.number(), let boot = reader.text(),
            let elapsed: Int64 = reader.number(), let environmentName = reader.text(), let baseURL = reader.text(),
            let environmentFields = reader.text(), let partition = reader.text(), let orderingKey = reader.text(),
            let idempotencyKey = reader.text(),
            let method = reader.text().flatMap({ HTTPRequest.Method($0) }), let path = reader.text(),
            let baseText = reader.text(), let template = reader.text(), let flags: UInt8 = reader.number()
        else { return nil }
        let interval = Double(bitPattern: dateBits)
        guard interval.isFinite, abs(interval) < 0x1p40 else { return nil }
        if !boot.isEmpty { bootTime = BootTime(boot: boot, elapsed: .nanoseconds(elapsed)) }
        var base: RequestURL?
        if !baseText.isEmpty {
            guard let url = try? RequestURL(baseText) else { return nil }
            base = url
        }
        guard let query = Self.query(&reader), let parameters = FormParameters(&reader),
            let fields = HTTPFields(&reader), let statuses = Self.statuses(&reader),
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
            guard let size: UInt64 = reader.number(), let checksum: UInt64 = reader.number() else { return nil }
            (bodyFileSize, bodyChecksum) = (size, checksum)
        }
        guard reader.count == 0 else { return nil }
        self.id = OutboxEntry.ID(number: id)
        date = Date(timeIntervalSinceReferenceDate: interval)
        self.partition = partition
        environment = OutboxEnvironment(name: environmentName, baseURL: baseURL, fields: environmentFields)
        (self.orderingKey, self.idempotencyKey) = (orderingKey, idempotencyKey)
        parts = StoredRequestParts(
            method: method, path: path, base: base, isDefined: flags & 1 != 0, hasWholeQuery: flags & 2 != 0,
            query: query, parameters: parameters, headerFields: fields, body: stored, statuses: statuses,
            usesCookies: flags & 4 != 0, urlTemplate: template.isEmpty ? nil : template)
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
    private static let format = RecordFormat(mark: "SEfailed", version: 1, partCount: 1)

    /// The failure as bytes.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(text: reason.name)
        writer.append(Int32(clamping: status ?? -1))
        writer.append(text: message)
        writer.append(date.timeIntervalSinceReferenceDate.bitPattern)
        writer.append(UInt8(isByAge ? 1 : 0))
        return Self.format.bytes(of: [writer.bytes])
    }

    /// Reads a failure. Damaged bytes give a general failure, because it matters most that there is one.
    init(bytes: [UInt8], date: Date) {
        let read = bytes.withUnsafeBytes { bytes -> OutboxFailure? in
            guard case .record(_, let parts) = Self.format.content(of: bytes) else { return nil }
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[parts[0]]))
            guard let name = reader.text(), let reason = RequestFailure.Reason.all.first(where: { $0.name == name }),
                let status: Int32 = reader.number(), let message = reader.text(), let bits: UInt64 = reader.number(),
                let isByAge: UInt8 = reader.number(), reader.count == 0
            else { return nil }
            return OutboxFailure(
                reason: reason, status: status < 0 ? nil : Int(status), message: message,
                date: Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)), isByAge: isByAge == 1)
        }
        self =
            read
            ?? OutboxFailure(
                reason: .file, message: "Why the entry was given up cannot be read any more.", date: date)
    }
}
