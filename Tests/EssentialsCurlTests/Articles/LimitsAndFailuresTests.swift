import CEssentials
import EssentialsHTTP
import FoundationEssentials
import Testing

@testable import EssentialsCurl

@Suite("The article on limits and failures")
struct LimitsAndFailuresTests {
    /// A row of a table of limits.
    private struct Row {
        let limit, value, consequence, reason: String

        /// The property of the limit, or the limit in words.
        var name: String {
            guard limit.hasPrefix("`") else { return limit }
            return String(limit.dropFirst().prefix { $0.isLetter })
        }
    }

    private static let head = "| Limit | Default | Over it | Why |"

    /// The rows of the table below a heading.
    private static func rows(of heading: String) throws -> [Row] {
        let article = try ArticleText("LimitsAndFailures", of: "EssentialsCurl")
        return try article.table(under: head, of: "### \(heading)").map { cells in
            try #require(cells.count == 4, "\(cells)")
            return Row(limit: cells[0], value: cells[1], consequence: cells[2], reason: cells[3])
        }
    }

    private static func values(of heading: String) throws -> [String: String] {
        try Dictionary(rows(of: heading).map { ($0.name, $0.value) }) { "\($0) and \($1)" }
    }

    // MARK: How the article writes values

    private static func count(_ number: Int?) -> String {
        guard let number else { return "none" }
        return number < 1_000 ? "\(number)" : "\(number / 1_000),\(String(1_000 + number % 1_000).dropFirst())"
    }

    private static func bytes(_ number: Int) -> String {
        number.isMultiple(of: 1 << 20) ? "\(number >> 20) MiB" : "\(number >> 10) KiB"
    }

    private static func time(_ duration: Duration?) -> String {
        guard let milliseconds = duration?.milliseconds else { return "none" }
        guard milliseconds.isMultiple(of: 1_000) else { return "\(milliseconds) ms" }
        return milliseconds < 3_600_000 ? "\(milliseconds / 1_000) s" : "\(milliseconds / 3_600_000) h"
    }

    // MARK: What the code has

    /// Limits of libcurl itself, which no code of this package has.
    private static let limitsOfLibcurl = [
        "one header line": "100 KiB", "extensions of a chunk's size": "none", "window of a zstd body": "128 MiB",
        "TLS sessions that an engine thread keeps": "8",
        "names of `Content-Encoding` that libcurl does not know": "any number",
    ]

    private static var ofRequest: [String: String] {
        let options = TransportOptions()
        var collected = "none"
        if case .collected(let limit) = options.delivery { collected = bytes(limit) }
        return [
            "connectTimeout": time(options.connectTimeout), "firstByteTimeout": time(options.firstByteTimeout),
            "idleTimeout": time(options.idleTimeout), "totalTimeout": time(options.totalTimeout),
            "queueTimeout": time(options.queueTimeout), "continueWait": time(options.continueWait),
            "minimumRate": options.minimumRate.map { "\($0)" } ?? "none",
            "maximumHeadSize": bytes(options.maximumHeadSize), "delivery": collected,
            "maximumHeadLines": count(options.maximumHeadLines),
            // The code has no number for this limit, because it only checks for more than one.
            "codings of `Content-Encoding` that are decoded, one inside the other": "1",
            "bytes of a compressed body that come in while nothing comes out of its decoder":
                bytes(Int(CE_DECODER_INPUT_MAXIMUM)),
            "maximumExpansion": count(options.maximumExpansion), "drainLimit": bytes(options.drainLimit),
            "memory had ready for an announced length": bytes(Int(CE_TRUSTED_LENGTH)),
            "what a compressed body may unpack to whatever its size": bytes(Int(CE_EXPANSION_FLOOR)),
            "chunks of a streamed body of \(bytes(Int(CE_CHUNK_SIZE))) that wait for a reader":
                count(BodyPipe.softLimit),
            "chunks that come before the reading has stopped": count(Int(CE_CHUNKS_MAXIMUM)),
            "time for what is read of a dropped body": time(.milliseconds(EngineThread.drainTime)),
            "a streamed request body, read ahead": bytes(UploadPump.readAhead),
            "a request body in memory that is copied": bytes(PreparedRequest.copyLimit),
        ]
    }

    private static var ofTransport: [String: String] {
        let configuration = CurlTransport.Configuration()
        return [
            "connectionsPerOrigin": count(configuration.connectionsPerOrigin),
            "streamsPerConnection": count(configuration.streamsPerConnection),
            "requestsInFlight": count(configuration.requestsInFlight), "queueLimit": count(configuration.queueLimit),
            "connectionCacheSize": count(configuration.connectionCacheSize),
            "idleLifetime": time(configuration.idleLifetime),
            "connectionLifetime": time(configuration.connectionLifetime),
            "keepAliveInterval": time(configuration.keepAliveInterval),
            "addressLifetime": time(configuration.addressLifetime),
            "happyEyeballsDelay": time(configuration.happyEyeballsDelay), "shards": count(configuration.shards),
            "the most `shards`": count(CurlTransport.Configuration.maximumShards),
            "bytes in the path of `unixSocket`": count(CurlTransport.Configuration.maximumSocketPath),
            "requests to one origin on one of libcurl's multi handles": count(MultiSet.crowd),
            "multi handles of an engine thread": count(MultiSet.maximum),
            "libcurl's handles that are kept for later requests": count(TransferPool.maximum),
            "answers that carry responses from thread to thread and are kept for later ones":
                count(Int(CE_ANSWERS_KEPT)),
            "each of the two buffers that such an answer keeps": bytes(Int(CE_ANSWER_BUFFER_KEPT)),
            "origins that are remembered, or twice as many as are in use": count(AdmissionMachine<Int>.idleMaximum),
            "chunks whose memory is kept for later ones": count(Int(CE_CHUNKS_KEPT)),
            "certificates of a verified chain": count(Int(CE_CHAIN_MAXIMUM)),
            "policies of ``CurlTransports``": count(CurlTransports.maximum),
            "time for what runs under a policy that made room": time(CurlTransports.grace),
            "trust reports that wait for a listener": count(TrustReporter.backlog),
            "time in which a trust report is not repeated": time(TrustReporter.period),
            "trust reports that are remembered for that": count(TrustReporter.memory),
        ]
    }

    // MARK: Limits

    @Test("The article has every limit of a request and of a transport with the value in the code")
    func values() throws {
        let shown = try Self.values(of: "Limits of one request")
            .merging(Self.values(of: "Limits of a transport")) { "\($0) and \($1)" }
        let known = Self.ofRequest.merging(Self.ofTransport) { "\($0) and \($1)" }
            .merging(Self.limitsOfLibcurl) { "\($0) and \($1)" }
        for (name, value) in known { #expect(shown[name] == value, "\(name)") }
        #expect(Set(shown.keys) == Set(known.keys))
    }

    @Test("The article has every limit of a document with the value in the code")
    func documents() throws {
        let shown = try Self.values(of: "Limits of a document")
        #expect(shown["levels of a `JSONValue`"] == "\(JSONValue.maximumDepth)")
        let others = JSONValue.maximumDepthOfOtherDecoders
        #expect(shown["levels of a `JSONValue` that another decoder than `JSONCodec` reads"] == "\(others)")
        let name = "a name of a `JSONValue` with characters outside ASCII"
        #expect(shown[name] == "4 KiB")
        let (longest, tooLong) = (String(repeating: "é", count: 2_048), String(repeating: "é", count: 2_049))
        #expect(throws: Never.self) {
            try JSONCodec().decode(JSONValue.self, from: Data("{\"\(longest)\":1}".utf8), as: .json)
        }
        #expect(throws: (any Error).self) {
            try JSONCodec().decode(JSONValue.self, from: Data("{\"\(tooLong)\":1}".utf8), as: .json)
        }
        #expect(shown.count == 3)
    }

    @Test("The article names every property that is a limit")
    func properties() throws {
        let others: Set = [
            "trust", "priority", "protocolVersion", "decompresses", "proxy", "proxyTrust", "unixSocket",
            "networkInterface", "userAgent", "addressOverrides", "logger", "connectionObservers", "recordsTrust",
        ]
        for (value, heading) in [
            (TransportOptions() as Any, "Limits of one request"),
            (CurlTransport.Configuration(), "Limits of a transport"),
        ] {
            let names = Set(Mirror(reflecting: value).children.compactMap(\.label)).subtracting(others)
            #expect(!names.isEmpty)
            #expect(names.isSubset(of: try Self.values(of: heading).keys), "\(heading)")
        }
    }

    @Test("Every limit in the article has its own reason and its consequence")
    func reasons() throws {
        let rows = try Self.rows(of: "Limits of one request") + Self.rows(of: "Limits of a transport")
        for row in rows { #expect(!row.reason.isEmpty && !row.consequence.isEmpty, "\(row.limit)") }
        let reasons = Set(rows.map(\.reason))
        // Two limits of libcurl cannot be set, for the same reason.
        #expect(reasons.count == rows.count - 1)
    }

    @Test("The article names only failures, phases and properties that exist")
    func names() throws {
        let rows = try Self.rows(of: "Limits of one request") + Self.rows(of: "Limits of a transport")
        let phases: [RequestFailure.Phase] = [
            .queue, .nameResolution, .connect, .handshake, .sending, .waiting, .receiving,
        ]
        let known = Set(RequestFailure.Reason.all.map(\.name)).union(phases.map(\.name)).union(rows.map(\.name))
        for row in rows {
            let named = row.consequence.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
            #expect(Set(named).isSubset(of: known), "\(row.limit): \(named)")
        }
    }

    // MARK: Failures

    @Test("The article names each reason of a failure once")
    func failures() throws {
        let rows = try ArticleText("LimitsAndFailures", of: "EssentialsCurl").table(under: "| Reason | When |")
        var named: [String] = []
        for row in rows {
            try #require(row.count == 2, "\(row)")
            #expect(!row[1].isEmpty)
            for name in row[0].split(separator: ",") {
                named.append(name.drop { $0 == " " }.split(separator: "`").joined())
            }
        }
        #expect(named.sorted() == RequestFailure.Reason.all.map(\.name).sorted())
    }
}
