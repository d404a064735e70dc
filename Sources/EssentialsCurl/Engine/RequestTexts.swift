import CEssentials
import EssentialsTransport

/// The texts of a request in one block, as libcurl's side reads them: each ends in a zero, and the header lines in one
/// more.
///
/// Measured first and written then, so that laying a request out costs one allocation and a few copies.
struct RequestTexts: Sendable {
    private struct Offsets {
        var host = 0
        var target = 0
        var method = 0
        var headers = 0
        var proxy: Int?
        var proxyUser: Int?
        var proxyPassword: Int?
        var proxyHost: Int?
    }

    /// What libcurl can undo, in the words of `Accept-Encoding`.
    private static let encodings = String(cString: ce_accepted_encodings(false))
    private static let streamedEncodings = String(cString: ce_accepted_encodings(true))

    private let bytes: [UInt8]
    private let offsets: Offsets
    /// Whether compressed answers are asked for, and unpacked: not where the options say no, nor where the caller names
    /// encodings himself.
    let asksForEncodings: Bool

    /// Lays the texts out.
    ///
    /// - Throws: `invalidRequest` for fields that are the transport's.
    init(
        _ request: TransportRequest, _ origin: Origin, method: String, target: String, proxy: Proxy?,
        userAgent: String?, bodyKind: ce_body_kind
    ) throws(RequestFailure) {
        let lines = try HeaderLines(request, origin, userAgent: userAgent, bodyKind: bodyKind)
        let host = origin.host.text
        let proxyTexts = proxy.map(Self.texts) ?? []
        let size =
            2 * host.utf8.count + target.utf8.count + method.utf8.count + lines.size
            + proxyTexts.reduce(Self.room) { $0 + $1.text.utf8.count + 1 }
        var offsets = Offsets()
        bytes = [UInt8](unsafeUninitializedCapacity: size) { memory, count in
            var writer = TextWriter(memory)
            writer.write(origin)
            offsets.host = writer.count
            writer.write(host)
            writer.end()
            offsets.target = writer.count
            writer.write(target)
            writer.end()
            offsets.method = writer.count
            writer.write(method)
            writer.end()
            for (place, text) in proxyTexts {
                offsets[keyPath: place] = writer.count
                writer.write(text)
                writer.end()
            }
            offsets.headers = writer.count
            lines.write(to: &writer)
            count = writer.count
        }
        self.offsets = offsets
        asksForEncodings = lines.encodings != nil
    }

    /// What the origin takes beside its host, and the zeros.
    private static let room = 32

    private static func texts(of proxy: Proxy) -> [(place: WritableKeyPath<Offsets, Int?>, text: String)] {
        var texts: [(place: WritableKeyPath<Offsets, Int?>, text: String)] = [
            (\.proxy, "\(proxy.kind.rawValue)://\(proxy.host):\(proxy.port)")
        ]
        if proxy.kind == .https { texts.append((\.proxyHost, proxy.host.text)) }
        if let user = proxy.user { texts += [(\.proxyUser, user), (\.proxyPassword, proxy.password ?? "")] }
        return texts
    }

    /// Lends the texts. The pointers are valid during the call only.
    func withTexts<Result>(_ body: (ce_request) -> Result) -> Result {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else {
                preconditionFailure("the block is never empty")
            }
            var request = ce_request()
            request.origin = base
            request.host = base + offsets.host
            request.target = base + offsets.target
            request.method = base + offsets.method
            request.headers = base + offsets.headers
            request.headers_size = bytes.count - offsets.headers
            request.proxy = offsets.proxy.map { base + $0 }
            request.proxy_user = offsets.proxyUser.map { base + $0 }
            request.proxy_password = offsets.proxyPassword.map { base + $0 }
            request.proxy_host = offsets.proxyHost.map { base + $0 }
            return body(request)
        }
    }

    /// The request's header fields, checked and measured, and what the transport adds to them.
    private struct HeaderLines: ~Copyable {
        private let fields: HTTPFields
        private let userAgent: String?
        private let bodyKind: ce_body_kind
        private let waitsForContinue: Bool
        private var hasContentType = false
        private(set) var encodings: String?
        /// No fewer bytes than they take.
        private(set) var size = 0

        init(
            _ request: TransportRequest, _ origin: Origin, userAgent: String?, bodyKind: ce_body_kind
        ) throws(RequestFailure) {
            fields = request.headerFields
            self.bodyKind = bodyKind
            waitsForContinue = bodyKind != CE_BODY_NONE && request.options.continueWait != nil
            var hasUserAgent = false
            var hasEncoding = false
            for field in fields {
                switch field.name {
                case .contentType: hasContentType = true
                case .userAgent: hasUserAgent = true
                case .acceptEncoding: hasEncoding = true
                default: try Self.check(field, origin)
                }
                size += field.name.rawName.utf8.count + field.withUnsafeBytesOfValue { $0.count } + 3
            }
            self.userAgent = hasUserAgent ? nil : userAgent
            let accepted =
                request.options.delivery == .streamed ? RequestTexts.streamedEncodings : RequestTexts.encodings
            encodings = hasEncoding || !request.options.decompresses ? nil : accepted
            size += Self.room + (self.userAgent?.utf8.count ?? 0) + (encodings?.utf8.count ?? 0)
        }

        /// What the names of the transport's own lines take together, and their ends.
        private static let room = 96

        private static func check(_ field: HTTPField, _ origin: Origin) throws(RequestFailure) {
            switch field.name {
            case .transferEncoding:
                throw RequestFailure(
                    .invalidRequest, "The request sets Transfer-Encoding.",
                    remedy: "Leave framing to the transport; stream the body for a chunked one.")
            case .expect:
                throw RequestFailure(
                    .invalidRequest, "The request sets Expect.", remedy: "Set the option continueWait instead.")
            case .proxyAuthorization:
                throw RequestFailure(
                    .invalidRequest, "The request sets Proxy-Authorization, which would reach the server too.",
                    remedy: "Give the proxy its user and password.")
            case let name where name.canonicalName == "host":
                guard field.value.lowercased() == origin.authority else {
                    throw RequestFailure(
                        .invalidRequest, "The request sets Host to something else than its URL.",
                        remedy: "Put the name in the URL, and lead it elsewhere with an address override.")
                }
            // Keeps the place of a field that was none.
            case let name where name.canonicalName == "essentials-refused-field":
                try HTTPFields([field]).checkNothingRefused()
            default: break
            }
        }

        func write(to writer: inout TextWriter) {
            for field in fields where field.name != .contentLength && field.name.canonicalName != "host" {
                writer.write(field.name.rawName)
                field.withUnsafeBytesOfValue { value in
                    // libcurl sends a field without a value when it ends in a semicolon instead of a colon.
                    writer.write(value.isEmpty ? ";" : ": ")
                    writer.write(bytes: value)
                }
                writer.end()
            }
            if let encodings {
                // Written out here, because libcurl would write the line twice, and a character at a time.
                writer.write("Accept-Encoding: ")
                writer.write(encodings)
                writer.end()
            }
            if let userAgent {
                writer.write("User-Agent: ")
                writer.write(userAgent)
                writer.end()
            }
            // A header without a value takes libcurl's own away: a form's media type, and the wait for 100 Continue.
            // Each field is compared with many names by libcurl, so there is none that says nothing.
            if !hasContentType, bodyKind == CE_BODY_BYTES {
                writer.write("Content-Type:")
                writer.end()
            }
            if bodyKind != CE_BODY_NONE {
                writer.write(waitsForContinue ? "Expect: 100-continue" : "Expect:")
                writer.end()
            }
            writer.end()
        }
    }
}

/// Writes texts one after the other into memory that was measured for them.
private struct TextWriter {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

    mutating func write(bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        reserve(bytes.count).update(from: source, count: bytes.count)
    }

    mutating func write(_ text: String) {
        let isWritten: Void? = text.utf8.withContiguousStorageIfAvailable { write(bytes: $0) }
        if isWritten == nil { for byte in text.utf8 { write(byte) } }
    }

    /// Ends a text.
    mutating func end() { write(0 as UInt8) }

    /// An origin with its port, whichever it is. Without interpolation, which takes longer than all the rest.
    mutating func write(_ origin: Origin) {
        write(origin.scheme.rawValue)
        let host = origin.host
        let isIPv6 =
            host.isAddress
            && host.text.utf8.withContiguousStorageIfAvailable { $0.contains(0x3a) }
                ?? host.text.contains(":")
        write(isIPv6 ? "://[" : "://")
        write(host.text)
        write(isIPv6 ? "]:" : ":")
        var divisor: UInt16 = 10_000
        while divisor > max(origin.port, 1) { divisor /= 10 }
        while divisor > 0 {
            write(UInt8(ascii: "0") + UInt8(origin.port / divisor % 10))
            divisor /= 10
        }
        end()
    }

    private mutating func write(_ byte: UInt8) { reserve(1).pointee = byte }

    /// Memory for so many bytes, at the end of what is written. Measuring too little would write past the end: an error
    /// of this file, which stops here.
    private mutating func reserve(_ size: Int) -> UnsafeMutablePointer<UInt8> {
        precondition(size <= memory.count - count, "a request's texts are longer than measured")
        defer { count += size }
        guard let base = memory.baseAddress else { preconditionFailure("a block without memory") }
        return base + count
    }
}
