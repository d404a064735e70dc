import EssentialsHTTP
public import FoundationEssentials

/// A stored response: its head, and possibly its body.
///
/// A store in memory keeps the value. Another store keeps ``bytes(for:)``, from which ``init(bytes:for:body:)`` makes an equal
/// value in any process.
public struct StoredResponse: Sendable {
    let head: StoredHead
    /// The number of the request that has fetched or confirmed it, and the number of its body.
    let identity: ResponseIdentity
    /// Whether the requests that have fetched and confirmed it had credentials or other secrets.
    let isPersonal: Bool
    /// Where the bytes of bound content came from, without query; `nil` if that is the URL of the key. Only there its
    /// validators mean something.
    var target: String?
    /// The body, if a lookup has found it together with the head; `nil` if it has to be asked for.
    public var body: StoredContent?

    init(head: StoredHead, identity: ResponseIdentity, isPersonal: Bool, body: StoredContent? = nil) {
        (self.head, self.identity, self.isPersonal, self.body) = (head, identity, isPersonal, body)
    }

    /// The number of the request to the server that has fetched or confirmed it. That of a newer response is greater.
    public var load: UInt64 { identity.load }
    /// The number of its body. It is unique under a key, and stays when the response is confirmed.
    public var bodyNumber: UInt64 { identity.body }

    /// How much longer it is fresh or may be served stale, and whether the server can confirm it afterwards.
    package var usefulTime: (left: Duration, canBeConfirmed: Bool) {
        let stale = head.allowsStale ? max(head.staleWhileRevalidate, head.staleIfError) : .zero
        return (head.lifetime - head.age + stale, head.tag != nil || head.fields.contains(.lastModified))
    }

    /// Whether the response takes the place of another one of the same key: the requests for them had the same in the fields
    /// that `Vary` names.
    public func replaces(_ other: StoredResponse) -> Bool { head.isVariant(like: other.head) }
}

/// The body of a stored response: bytes, or a source of them that is read when they are needed.
public struct StoredContent: Sendable {
    enum Content: Sendable {
        case data(Data)
        case source(@Sendable (Range<Int>) async -> Data?)
    }

    /// The number of bytes.
    public let count: Int
    let content: Content
    /// The file with the bytes alone, if there is one.
    var file: StoredFile?
    /// Reads the pieces after the first one of a body that is being delivered, for which there is more time.
    var readFurther: (@Sendable (Range<Int>) async -> Data?)?
    /// Reads a piece on the caller's thread; `nil` if that would wait. The others are then asked.
    var readResident: (@Sendable (Range<Int>) -> Data?)?

    /// A body in memory.
    public init(_ data: Data) { (count, content) = (data.count, .data(data)) }

    /// A body that is read in pieces. A piece has at most ``pieceSize`` bytes.
    ///
    /// - Parameters:
    ///   - count: The number of bytes.
    ///   - read: The bytes of a range; `nil` if they are damaged or gone. It is called on any thread.
    public init(count: Int, read: @escaping @Sendable (Range<Int>) async -> Data?) {
        (self.count, content) = (max(count, 0), .source(read))
    }

    /// A body in a file.
    init(count: Int, file: StoredFile, read: @escaping @Sendable (Range<Int>) async -> Data?) {
        self.init(count: count, read: read)
        self.file = file
    }

    /// The size of the pieces in which a body is read.
    public static let pieceSize = 1 << 20

    /// The bytes, if they are in memory.
    var data: Data? { if case .data(let data) = content { data } else { nil } }

    /// The bytes of a range; `nil` if they are gone.
    ///
    /// - Parameter isFurther: Whether a piece of the body was delivered already.
    func bytes(in range: Range<Int>, isFurther: Bool = false) async -> Data? {
        switch content {
        case .data(let data):
            return data[(data.startIndex + range.lowerBound)..<(data.startIndex + range.upperBound)]
        case .source(let first):
            let reading = isFurther ? readFurther ?? first : first
            var all = Data()
            var position = range.lowerBound
            while position < range.upperBound {
                let piece = position..<min(position + Self.pieceSize, range.upperBound)
                var read = readResident?(piece)
                if read == nil { read = await reading(piece) }
                guard let bytes = read, bytes.count == piece.count else { return nil }
                if piece == range { return bytes }
                all.append(bytes)
                position = piece.upperBound
            }
            return all
        }
    }

    /// All bytes; `nil` if they are gone.
    package func all() async -> Data? {
        if let data { return data }
        return await bytes(in: 0..<count)
    }
}
