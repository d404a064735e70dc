import EssentialsHTTP
import EssentialsStorage
import FoundationEssentials

extension StoredResponse {
    private static let version: UInt8 = 2
    /// The maximum size of a head as bytes. A transport receives no larger one.
    static let maximumHead = 1 << 20
    private static let (isPersonalFlag, isUnpackedFlag, isOutdatedFlag) = (UInt8(1), UInt8(2), UInt8(4))

    /// The head as bytes, for a store that keeps it outside the process. They contain the key, so that no response is found
    /// under another one, but not the body.
    ///
    /// They can be read by whoever can read the store. They contain the URL and the header fields of the response, and those
    /// of the request that `Vary` names.
    public func bytes(for key: ResponseKey) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(Self.version)
        writer.append(counted: key.bytes)
        writer.append(identity.load)
        writer.append(identity.body)
        writer.append(
            (isPersonal ? Self.isPersonalFlag : 0) | (head.isUnpacked ? Self.isUnpackedFlag : 0)
                | (head.isOutdated ? Self.isOutdatedFlag : 0))
        writer.append(UInt16(clamping: head.status.code))
        writer.append(head.age)
        writer.append(head.moment.date.timeIntervalSinceReferenceDate.bitPattern)
        writer.append(text: head.moment.boot == nil ? "" : MachineName.text)
        writer.append(text: head.moment.boot?.boot ?? "")
        writer.append(head.moment.boot?.elapsed ?? .zero)
        head.fields.write(to: &writer)
        writer.append(UInt32(clamping: head.selection.members.count))
        for member in head.selection.members {
            writer.append(text: member.name.rawName)
            writer.append(UInt8(member.value == nil ? 0 : 1))
            writer.append(text: member.value ?? "")
        }
        writer.append(text: target ?? "")
        return writer.bytes
    }

    /// Reads a head; `nil` if the bytes are damaged, of another version, or belong to another key, and for a key whose
    /// ``ResponseKey/partition`` is `nil`.
    ///
    /// - Parameters:
    ///   - bytes: What ``bytes(for:)`` has returned.
    ///   - key: The key under which they were found.
    ///   - body: The body, if it is there already.
    public init?(bytes: [UInt8], for key: ResponseKey, body: StoredContent? = nil) {
        // Without a name, keys of different accounts have the same bytes.
        guard key.partition != nil else { return nil }
        let read = bytes.withUnsafeBytes { bytes -> StoredResponse? in
            var reader = ByteReader(bytes)
            return StoredResponse(&reader, key.options, body) { $0.elementsEqual(key.bytes) }
        }
        guard let read else { return nil }
        self = read
    }

    /// Reads a head of any key.
    init?(bytes: [UInt8], _ options: CacheOptions, body: StoredContent?) {
        let read = bytes.withUnsafeBytes { bytes -> StoredResponse? in
            var reader = ByteReader(bytes)
            return StoredResponse(&reader, options, body) { _ in true }
        }
        guard let read else { return nil }
        self = read
    }

    private init?(
        _ reader: inout ByteReader, _ options: CacheOptions, _ body: StoredContent?,
        _ isKey: (UnsafeRawBufferPointer) -> Bool
    ) {
        guard let version: UInt8 = reader.number(), version == Self.version, let stored = reader.counted(),
            isKey(stored), let load: UInt64 = reader.number(),
            let number: UInt64 = reader.number(), let flags: UInt8 = reader.number(),
            let status: UInt16 = reader.number(), (100...999).contains(status), let age = reader.duration(),
            let date: UInt64 = reader.number(), let machine = reader.text(), let boot = reader.text(),
            let elapsed = reader.duration(),
            let fields = HTTPFields(&reader), let selection = VarySelection(&reader), let target = reader.text(),
            reader.count == 0
        else { return nil }
        let time = Double(bitPattern: date)
        guard time.isFinite, let load = ResponseNumber.known(load) else { return nil }
        // The running time of another machine says nothing here, so that the date counts.
        let isOwn = !boot.isEmpty && machine == MachineName.text
        let moment = CacheMoment(
            date: Date(timeIntervalSinceReferenceDate: time),
            boot: isOwn ? BootTime(boot: boot, elapsed: elapsed) : nil)
        let head = StoredHead(
            status: .init(code: Int(status)), fields: fields, selection: selection, age: age, moment: moment,
            isUnpacked: flags & Self.isUnpackedFlag != 0, options: options,
            isOutdated: flags & Self.isOutdatedFlag != 0)
        self.init(
            head: head, identity: ResponseIdentity(load: load, body: number),
            isPersonal: flags & Self.isPersonalFlag != 0, body: body)
        self.target = target.isEmpty ? nil : target
    }
}

extension VarySelection {
    fileprivate init?(_ reader: inout ByteReader) {
        guard let count: UInt32 = reader.number(), Int(count) <= reader.count else { return nil }
        var members: [Member] = []
        for _ in 0..<count {
            guard let text = reader.text(), let name = HTTPField.Name(text), let hasValue: UInt8 = reader.number(),
                hasValue <= 1, let value = reader.text()
            else { return nil }
            members.append(Member(name: name, value: hasValue == 1 ? value : nil))
        }
        self.init(members)
    }
}

extension ByteWriter {
    fileprivate mutating func append(_ duration: Duration) {
        append(duration.components.seconds)
        append(duration.components.attoseconds)
    }

    fileprivate mutating func append(counted bytes: [UInt8]) {
        bytes.withUnsafeBytes { append(counted: $0) }
    }
}

extension ByteReader {
    fileprivate mutating func duration() -> Duration? {
        guard let seconds: Int64 = number(), let attoseconds: Int64 = number(),
            (-Self.oneSecond...Self.oneSecond).contains(attoseconds),
            (-Self.maximumSeconds...Self.maximumSeconds).contains(seconds)
        else { return nil }
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }

    private static let oneSecond: Int64 = 1_000_000_000_000_000_000
    /// More than any age or running time.
    private static let maximumSeconds: Int64 = 1 << 40
}
