/// Deadlines, limits and protocol of one request.
///
/// ```swift
/// var options = TransportOptions()
/// options.totalTimeout = .seconds(5)
/// ```
public struct TransportOptions: Sendable {
    /// Which HTTP version to speak.
    public enum ProtocolVersion: Sendable, Hashable {
        /// HTTP/2 where the server offers it over TLS, else HTTP/1.1.
        case automatic
        /// HTTP/1.1 only.
        case http1
        /// HTTP/2 or a failure; without TLS by prior knowledge (RFC 9113, 3.3).
        case http2
    }

    /// How the response's body is delivered.
    public enum Delivery: Sendable, Hashable {
        /// All at once, when all of it has come. At most this many bytes after decompression; more is `tooLarge`.
        case collected(upTo: Int)
        /// Piece by piece, at the reader's pace.
        case streamed
    }

    /// A speed below which a transfer is given up.
    public struct MinimumRate: Sendable, Hashable {
        /// Bytes a second, in both directions together.
        public var bytesPerSecond: Int
        /// How long it may be slower. Whole seconds.
        public var period: Duration

        /// Makes a minimum.
        public init(bytesPerSecond: Int, over period: Duration) {
            self.bytesPerSecond = bytesPerSecond
            self.period = period
        }
    }

    @usableFromInline
    struct Settings: Hashable, Sendable {
        var trust: TrustPolicy?
        var times = TimeLimits()
        var priority = RequestPriority.normal
        var minimumRate: MinimumRate?
        var continueWait: Duration?
        var delivery: Delivery = .collected(upTo: 64 << 20)
        var maximumHeadSize = 256 << 10
        var maximumHeadLines = 1_000
        var protocolVersion: ProtocolVersion = .automatic
        var decompresses = true
        var maximumExpansion: Int? = 100
        var drainLimit = 64 << 10
    }

    private static let standard = Settings()

    /// Every stage of a request copies its options, so that copies share them. Nil while nobody has changed one: most
    /// requests have the standard ones, and threads that count references to one object get into each other's way.
    @usableFromInline var changed: CopyOnWrite<Settings>?

    /// Whether nothing was changed.
    @inlinable package var isStandard: Bool { changed == nil }

    private var settings: Settings {
        get { changed?.value ?? Self.standard }
        _modify {
            var settings = changed.take() ?? CopyOnWrite(Self.standard)
            defer { changed = settings }
            yield &settings.value
        }
    }

    /// Reads one setting without a copy of the others. Inlined, because it would allocate else.
    @inline(__always)
    private func read<Value>(_ setting: (Settings) -> Value) -> Value {
        if let changed { setting(changed.value) } else { setting(Self.standard) }
    }

    /// The times below in milliseconds, which engines count in.
    package var times: TimeLimits { read { $0.times } }

    /// By what the servers are judged; nil leaves it to the transport. One that has another policy refuses the request
    /// as `otherTrust`: ways for several policies are what `CurlTransports` is for.
    public var trust: TrustPolicy? {
        get { read { $0.trust } }
        _modify { yield &settings.trust }
    }

    /// The longest time for name resolution, connection and TLS handshake together. 10 seconds. Zero or less: none.
    public var connectTimeout: Duration {
        get { read { $0.times.connect.duration } }
        set { settings.times.connect = TimeLimit(newValue) }
    }

    /// The longest time in which nothing moves in either direction: no byte of a body, no whole header line. 60 seconds;
    /// nil for none.
    public var idleTimeout: Duration? {
        get { read { $0.times.idle?.duration } }
        set { settings.times.idle = newValue.map(TimeLimit.init) }
    }

    /// The longest silence between the request's last byte and the answer's first. None beside ``idleTimeout``.
    public var firstByteTimeout: Duration? {
        get { read { $0.times.firstByte?.duration } }
        set { settings.times.firstByte = newValue.map(TimeLimit.init) }
    }

    /// The longest time for the whole exchange, waiting in the transport's queue included. None.
    public var totalTimeout: Duration? {
        get { read { $0.times.total?.duration } }
        set { settings.times.total = newValue.map(TimeLimit.init) }
    }

    /// Which requests leave the transport's queue before this one. Normal.
    public var priority: RequestPriority {
        get { read { $0.priority } }
        _modify { yield &settings.priority }
    }

    /// The longest time to wait in the transport's queue for a connection. 60 seconds; nil for none.
    public var queueTimeout: Duration? {
        get { read { $0.times.queue?.duration } }
        set { settings.times.queue = newValue.map(TimeLimit.init) }
    }

    /// The slowest transfer that is not given up as `timeout`. None.
    public var minimumRate: MinimumRate? {
        get { read { $0.minimumRate } }
        _modify { yield &settings.minimumRate }
    }

    /// How long a body waits for the server's `100 Continue` before it is sent anyway (RFC 9110, 10.1.1); nil sends it
    /// at once, and asks for nothing. None.
    public var continueWait: Duration? {
        get { read { $0.continueWait } }
        _modify { yield &settings.continueWait }
    }

    /// How the body is delivered. Collected, at most 64 MiB.
    public var delivery: Delivery {
        get { read { $0.delivery } }
        _modify { yield &settings.delivery }
    }

    /// The most bytes of all header lines, informational responses and trailers included. 256 KiB.
    public var maximumHeadSize: Int {
        get { read { $0.maximumHeadSize } }
        _modify { yield &settings.maximumHeadSize }
    }

    /// The most lines of all heads of one exchange: status lines, fields, informational responses and trailers. The
    /// default is 1,000; a request that asks for fewer than 1 or more than ``headLinesMaximum`` fails as `invalidRequest`.
    /// More lines than that fail as `tooLarge`.
    public var maximumHeadLines: Int {
        get { read { $0.maximumHeadLines } }
        _modify { yield &settings.maximumHeadLines }
    }

    /// The largest value of ``maximumHeadLines``: 10,000, far below what ends an `HTTPFields`.
    public static var headLinesMaximum: Int { 10_000 }

    /// Which HTTP version to speak.
    public var protocolVersion: ProtocolVersion {
        get { read { $0.protocolVersion } }
        _modify { yield &settings.protocolVersion }
    }

    /// Whether gzip, deflate, br and zstd are asked for and undone, as far as libcurl was built with them. The header
    /// fields stay as they came.
    public var decompresses: Bool {
        get { read { $0.decompresses } }
        _modify { yield &settings.decompresses }
    }

    /// How many times its size a compressed body of more than 16 MiB may unpack to; more is `tooLarge`. 100; nil for any.
    public var maximumExpansion: Int? {
        get { read { $0.maximumExpansion } }
        _modify { yield &settings.maximumExpansion }
    }

    /// A streamed body that is dropped unread is read to its end if no more than this is left, so that its connection
    /// can be used again; else the connection is closed. 64 KiB, for at most one second.
    public var drainLimit: Int {
        get { read { $0.drainLimit } }
        _modify { yield &settings.drainLimit }
    }

    /// The defaults named beside each property.
    @inlinable
    public init() { changed = nil }
}

extension TransportOptions: CustomReflectable {
    /// The properties above, for debuggers and `dump`.
    public var customMirror: Mirror {
        // The times are kept together, and shown as the properties that they are.
        let times = Mirror(reflecting: settings.times).children.map { child in
            Mirror.Child(
                label: child.label.map { $0 + "Timeout" },
                value: (child.value as? TimeLimit)?.duration as Any)
        }
        let others = Mirror(reflecting: settings).children.filter { !($0.value is TimeLimits) }
        return Mirror(self, children: times + others)
    }
}

extension TransportOptions: Hashable {
    /// The same settings, whether or not they were changed on the way there.
    public static func == (one: TransportOptions, other: TransportOptions) -> Bool {
        one.changed == other.changed || one.settings == other.settings
    }

    /// Hashes all of them.
    public func hash(into hasher: inout Hasher) { settings.hash(into: &hasher) }
}
