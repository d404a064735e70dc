import CEssentials
import EssentialsTransport

/// The texts of a request in one block. Each text ends in a zero, and the header lines end in one more.
///
/// The texts are measured before they are written, so that a request costs one allocation and a few copies.
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

    /// The codings that libcurl can decode, as a value of `Accept-Encoding`.
    private static let encodings = String(cString: ce_accepted_encodings(false))
    private static let streamedEncodings = String(cString: ce_accepted_encodings(true))

    private let bytes: [UInt8]
    private let offsets: Offsets
    /// Whether the request accepts compressed bodies, which are then decoded. It does not if its options say so, or if
    /// its fields name the encodings.
    let asksForEncodings: Bool
    /// Whether the request expects 100 Continue before its body is sent.
    let expectsContinue: Bool

    /// Lays out the texts.
    ///
    /// - Throws: `invalidRequest` for fields that only the transport may set.
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
        expectsContinue = lines.waitsForContinue
    }

    /// The number of bytes for the origin without its host, and for the zeros.
    private static let room = 32

    private static func texts(of proxy: Proxy) -> [(place: WritableKeyPath<Offsets, Int?>, text: String)] {
        var texts: [(place: WritableKeyPath<Offsets, Int?>, text: String)] = [
            (\.proxy, "\(proxy.kind.rawValue)://\(proxy.host):\(proxy.port)")
        ]
        if proxy.kind == .https { texts.append((\.proxyHost, proxy.host.text)) }
        if let user = proxy.user { texts += [(\.proxyUser, user), (\.proxyPassword, proxy.password ?? "")] }
        return texts
    }

    /// Lends the texts. Their pointers are valid during the call only.
    ///
    /// - Parameter omitsExpectation: Whether the last line, which expects 100 Continue, is left out.
    func withTexts<Result>(omitsExpectation: Bool = false, _ body: (ce_request) -> Result) -> Result {
        guard omitsExpectation, expectsContinue else { return Self.lend(bytes, offsets, body) }
        let other = bytes.dropLast(Self.expectation.utf8.count + 2) + Array("\(Self.noExpectation)\0\0".utf8)
        return Self.lend(Array(other), offsets, body)
    }

    private static let expectation = "Expect: 100-continue"
    private static let noExpectation = "Expect:"

    private static func lend<Result>(_ bytes: [UInt8], _ offsets: Offsets, _ body: (ce_request) -> Result) -> Result {
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

    /// The header lines as they are sent, without those that libcurl adds.
    var fieldLines: [String] {
        bytes[offsets.headers...].split(separator: 0).compactMap { line in
            // A line without a value removes one of libcurl's own fields. A semicolon ends the name of an empty field.
            if line.last == UInt8(ascii: ":") { return nil }
            let text = String(decoding: line, as: UTF8.self)
            return text.contains(": ") ? text : text.dropLast() + ":"
        }
    }

    /// The checked and measured header fields of the request, and those that the transport adds.
    private struct HeaderLines: ~Copyable {
        private let fields: HTTPFields
        private let userAgent: String?
        private let bodyKind: ce_body_kind
        let waitsForContinue: Bool
        private var hasContentType = false
        private(set) var encodings: String?
        /// An upper bound for the number of bytes in the lines.
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
                guard !field.hasControlCharacters else { throw Failures.fieldValue(field.name) }
                size += field.name.rawName.utf8.count + field.withUnsafeBytesOfValue { $0.count } + 3
            }
            self.userAgent = hasUserAgent ? nil : userAgent
            let accepted =
                request.options.delivery == .streamed ? RequestTexts.streamedEncodings : RequestTexts.encodings
            encodings = hasEncoding || !request.options.decompresses ? nil : accepted
            size += Self.room + (self.userAgent?.utf8.count ?? 0) + (encodings?.utf8.count ?? 0)
        }

        /// The total size of the names of the transport's own lines, with their ends.
        private static let room = 96

        private static func check(_ field: HTTPField, _ origin: Origin) throws(RequestFailure) {
            switch field.name {
            case .transferEncoding: throw Failures.transferEncodingField
            case .expect: throw Failures.expectField
            case .proxyAuthorization: throw Failures.proxyAuthorizationField
            case let name where name.canonicalName == "host":
                guard field.value.lowercased() == origin.authority else { throw Failures.hostField }
            // The name stands for a field that could not be created.
            case let name where name.canonicalName == "essentials-refused-field":
                try HTTPFields([field]).checkNothingRefused()
            default: break
            }
        }

        func write(to writer: inout TextWriter) {
            for field in fields where field.name != .contentLength && field.name.canonicalName != "host" {
                writer.write(field.name.rawName)
                field.withUnsafeBytesOfValue { value in
                    // libcurl sends a field without a value only if its name is followed by a semicolon.
                    writer.write(value.isEmpty ? ";" : ": ")
                    writer.write(bytes: value)
                }
                writer.end()
            }
            if let encodings {
                // The line is written here, because libcurl would write it twice, one character at a time.
                writer.write("Accept-Encoding: ")
                writer.write(encodings)
                writer.end()
            }
            if let userAgent {
                writer.write("User-Agent: ")
                writer.write(userAgent)
                writer.end()
            }
            // A line without a value removes libcurl's own field: the media type of a form, or the wait for 100
            // Continue. libcurl compares every field with many names, so lines that remove nothing are left out.
            if !hasContentType, bodyKind == CE_BODY_BYTES {
                writer.write("Content-Type:")
                writer.end()
            }
            if bodyKind != CE_BODY_NONE {
                writer.write(waitsForContinue ? RequestTexts.expectation : RequestTexts.noExpectation)
                writer.end()
            }
            writer.end()
        }
    }
}

/// Writes texts one after another into memory that was measured for them.
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

    /// Writes an origin, always with its port. String interpolation would take longer than all other texts together.
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

    /// Returns memory for some bytes after the last text. It traps if too little memory was measured, because that is
    /// an error in this file.
    private mutating func reserve(_ size: Int) -> UnsafeMutablePointer<UInt8> {
        precondition(size <= memory.count - count, "a request's texts are longer than measured")
        defer { count += size }
        guard let base = memory.baseAddress else { preconditionFailure("a block without memory") }
        return base + count
    }
}
