/// Valid HTTP/2 responses (RFC 9113) as frames.
enum FrameCorpus {
    struct Frame {
        var type: UInt8
        var flags: UInt8 = 0
        var stream: UInt32 = 1
        var payload: [UInt8] = []

        /// The difference between the length field and the payload's length.
        var extraLength = 0

        var bytes: [UInt8] {
            let length = UInt32(clamping: max(0, payload.count + extraLength))
            var bytes = Array(Self.word(length)[1...])
            bytes += [type, flags]
            bytes += Self.word(stream)
            return bytes + payload
        }

        static func word(_ value: UInt32) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - $0 * 8)) }
        }
    }

    /// Encodes fields without a table and without Huffman coding (RFC 7541, section 6.2.2). Both lengths are below 127.
    private static func fields(_ lines: [(String, String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in lines {
            bytes.append(0)
            for text in [name, value] {
                bytes.append(UInt8(text.utf8.count))
                bytes += Array(text.utf8)
            }
        }
        return bytes
    }

    static func head(_ status: String, _ lines: [(String, String)] = [], flags: UInt8 = 4) -> Frame {
        Frame(type: 1, flags: flags, payload: fields([(":status", status)] + lines))
    }

    static func data(_ text: String, ends: Bool = true) -> Frame {
        Frame(type: 0, flags: ends ? 1 : 0, payload: Array(text.utf8))
    }

    /// The frames that a server sends first.
    static let sound = [settings, acknowledgement]
    static let settings = Frame(type: 4, stream: 0)
    static let acknowledgement = Frame(type: 4, flags: 1, stream: 0)

    static let responses: [[Frame]] = [
        [head("200", [("content-type", "application/json")]), data(#"{"id":1,"list":[1,null]}"#)],
        [head("200", [("content-length", "4")]), data("ab", ends: false), data("cd")],
        [head("103", [("link", "</a>")]), head("200"), data("late")],
        [head("204", flags: 5)],
        [head("404", [("content-type", "application/problem+json")]), data("{}")],
        [head("302", [("location", "/there")]), data("moved")],
        [head("401", [("www-authenticate", "Digest realm=r, nonce=n, qop=auth")]), data("no")],
        [
            head("200"), data("trailed", ends: false),
            Frame(type: 1, flags: 5, payload: fields([("x-trailer", "1"), ("grpc-status", "0")])),
        ],
        [
            head("200", [("content-encoding", "gzip")]),
            Frame(type: 0, flags: 1, payload: [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]),
        ],
        [head("200", [("content-type", "text/event-stream")]), data("data: a\n\n")],
        // A head in two frames and a padded body.
        [
            Frame(type: 1, payload: fields([(":status", "200")])),
            Frame(type: 9, flags: 4, payload: fields([("x-more", "1")])),
            Frame(type: 0, flags: 9, payload: [2, 0x6f, 0x6b, 0, 0]),
        ],
        [head("200"), Frame(type: 6, stream: 0, payload: [UInt8](repeating: 7, count: 8)), data("pinged")],
        [head("200"), Frame(type: 8, payload: [0, 0, 0xff, 0xff]), data("window")],
        [head("200"), Frame(type: 3, payload: [0, 0, 0, 8])],
        [head("200"), Frame(type: 7, stream: 0, payload: [0, 0, 0, 1, 0, 0, 0, 0]), data("going")],
        [Frame(type: 4, stream: 0, payload: [0, 4, 0, 0, 0x10, 0, 0, 3, 0, 0, 0, 1]), head("200"), data("set")],
        [Frame(type: 5, flags: 4, payload: [0, 0, 0, 2] + fields([(":method", "GET")])), head("200"), data("pushed")],
        [
            Frame(type: 10, stream: 0, payload: [0, 1, 0x61]), Frame(type: 77, payload: [1, 2, 3]), head("200"),
            data("odd"),
        ],
    ]

    /// Damages the frames and their bytes.
    static func damaged(_ mutator: inout Mutator) -> [UInt8] {
        var frames = sound + mutator.numbers.pick(responses)
        for _ in 0..<mutator.numbers.below(4) { change(&frames, &mutator) }
        let bytes = frames.flatMap(\.bytes)
        guard mutator.numbers.oneIn(3) else { return bytes }
        return mutator.damage(bytes, beside: [mutator.numbers.pick(responses).flatMap(\.bytes)])
    }

    private static func change(_ frames: inout [Frame], _ mutator: inout Mutator) {
        let place = mutator.numbers.below(frames.count)
        switch mutator.numbers.below(11) {
        case 0: frames.insert(frames[place], at: place)
        case 1: if frames.count > 1 { frames.remove(at: place) }
        case 2: frames.swapAt(place, mutator.numbers.below(frames.count))
        case 3: frames[place].type = UInt8(mutator.numbers.below(12))
        case 4: frames[place].flags ^= 1 << UInt8(mutator.numbers.below(8))
        case 5: frames[place].stream = mutator.numbers.pick([0, 1, 2, 3, 5, 0x7fff_ffff, 0xffff_ffff])
        case 6: frames[place].extraLength = mutator.numbers.pick([-1, 1, 9, 16_384, 0xff_ffff])
        case 7: frames[place].payload = mutator.damage(frames[place].payload, beside: [frames[0].payload + [0]])
        case 8: frames.insert(mutator.numbers.pick(mutator.numbers.pick(responses)), at: place)
        case 9:
            let count = mutator.numbers.oneIn(20) ? 2_000 : mutator.numbers.below(50)
            frames.insert(contentsOf: [Frame](repeating: frames[place], count: count), at: place)
        default:
            // More fields than a head may have.
            let field = fields([("a", "")])
            frames[place] = Frame(
                type: 1, flags: 4, payload: fields([(":status", "200")]) + (0..<3_000).flatMap { _ in field })
        }
    }
}
