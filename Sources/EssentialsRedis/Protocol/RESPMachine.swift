/// Reads the messages of a Redis server from bytes that come in any pieces.
///
/// Each byte is looked at once, and a string is copied once. Memory for a string is reserved by its announced length, which
/// is at most ``RESPLimits/bulkBytes``; arrays grow with their elements.
package struct RESPMachine: Sendable {
    /// What the next byte belongs to.
    private enum Step {
        case line
        /// The bytes of a string, of which `missing` have not come.
        case bulk(missing: Int)
        /// The two bytes behind a string.
        case bulkEnd(isHalf: Bool)
        case failed(RESPFailure)
    }

    private enum StringKind { case bytes, error, verbatim }

    private enum AggregateKind { case array, map, push, attribute }

    /// An array, set, map, push or attribute whose elements have not all come.
    private struct Frame {
        let kind: AggregateKind
        var missing: Int
        var values: [RESPValue] = []
    }

    /// How much longer a text can become because each byte that is no UTF-8 is replaced by a character of three bytes.
    private static let textGrowth = 3

    private let limits: RESPLimits
    private var step = Step.line
    private var line: [UInt8] = []
    private var bulk: [UInt8] = []
    private var bulkKind = StringKind.bytes
    private var frames: [Frame] = []
    /// What the message has so far.
    private var elements = 0
    private var bytes = 0

    package init(limits: RESPLimits = RESPLimits()) { self.limits = limits }

    /// Whether the last byte was the end of a message.
    package var isBetweenMessages: Bool {
        if case .line = step { line.isEmpty && frames.isEmpty && bytes == 0 } else { false }
    }

    /// Reads the next bytes.
    ///
    /// - Parameters:
    ///   - bytes: Valid during the call only.
    ///   - deliver: Receives each message that has become complete, in order.
    /// - Throws: What the server has done wrong. Each later call with bytes throws the same.
    package mutating func read(
        _ bytes: UnsafeRawBufferPointer, _ deliver: (RESPMessage) -> Void
    ) throws(RESPFailure) {
        do throws(RESPFailure) {
            var rest = bytes[...]
            while !rest.isEmpty { try advance(&rest, deliver) }
        } catch {
            self = RESPMachine(limits: limits)
            step = .failed(error)
            throw error
        }
    }

    private mutating func advance(
        _ rest: inout Slice<UnsafeRawBufferPointer>, _ deliver: (RESPMessage) -> Void
    ) throws(RESPFailure) {
        switch step {
        case .line:
            guard try takeLine(&rest) else { return }
            defer { line.removeAll(keepingCapacity: true) }
            if let value = try begin() { try complete(value, deliver) }
        case .bulk(let missing):
            let count = min(missing, rest.count)
            bulk += rest.prefix(count)
            rest = rest.dropFirst(count)
            step = count == missing ? .bulkEnd(isHalf: false) : .bulk(missing: missing - count)
        case .bulkEnd(let isHalf):
            guard rest.removeFirst() == (isHalf ? UInt8(ascii: "\n") : UInt8(ascii: "\r")) else {
                throw RESPFailure("A string is longer than its announced length.")
            }
            step = isHalf ? .line : .bulkEnd(isHalf: true)
            if isHalf { try complete(endBulk(), deliver) }
        case .failed(let failure): throw failure
        }
    }

    // MARK: Lines

    /// Moves bytes to the line. Returns whether it is complete; its end is left out.
    private mutating func takeLine(_ rest: inout Slice<UnsafeRawBufferPointer>) throws(RESPFailure) -> Bool {
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\n") {
                guard line.popLast() == UInt8(ascii: "\r") else { throw RESPFailure("A line ends without CR.") }
                return true
            }
            guard line.last != UInt8(ascii: "\r") else { throw RESPFailure("A line has a CR that is not its end.") }
            guard line.count < limits.lineBytes else {
                throw RESPFailure("A line has more than \(limits.lineBytes) bytes.")
            }
            line.append(byte)
        }
        return false
    }

    /// Reads a whole line. Returns its value, or `nil` if it only begins one.
    private mutating func begin() throws(RESPFailure) -> RESPValue? {
        guard let type = line.first else { throw RESPFailure("A line is empty.") }
        switch type {
        case UInt8(ascii: "$"): return try beginBulk(.bytes, "string")
        case UInt8(ascii: "!"): return try beginBulk(.error, "error")
        case UInt8(ascii: "="): return try beginBulk(.verbatim, "text")
        case UInt8(ascii: "*"): return try beginAggregate(.array)
        case UInt8(ascii: "~"): return try beginAggregate(.array, mayBeNull: false)
        case UInt8(ascii: "%"): return try beginAggregate(.map, mayBeNull: false)
        case UInt8(ascii: ">"): return try beginAggregate(.push, mayBeNull: false)
        case UInt8(ascii: "|"): return try beginAggregate(.attribute, mayBeNull: false)
        default: return try scalar(type)
        }
    }

    private mutating func scalar(_ type: UInt8) throws(RESPFailure) -> RESPValue {
        let text = String(decoding: line.dropFirst(), as: UTF8.self)
        bytes += Self.textGrowth * line.count
        switch type {
        case UInt8(ascii: "+"): return .status(text)
        case UInt8(ascii: "-"): return .error(RESPError(text))
        case UInt8(ascii: ":"): return .integer(try integer("integer"))
        case UInt8(ascii: "_"):
            guard text.isEmpty else { break }
            return .null
        case UInt8(ascii: "#"):
            guard text == "t" || text == "f" else { break }
            return .boolean(text == "t")
        case UInt8(ascii: ","):
            guard let number = Self.double(text) else { break }
            return .double(number)
        case UInt8(ascii: "("):
            let hasSign = text.utf8.first.map { "+-".utf8.contains($0) } == true
            let digits = text.utf8.dropFirst(hasSign ? 1 : 0)
            guard !digits.isEmpty, digits.allSatisfy({ (48...57).contains($0) }) else { break }
            return .bigNumber(text)
        default: throw RESPFailure("The type \(Self.shown(type)) is unknown.")
        }
        throw RESPFailure("The value of the type \(Self.shown(type)) is malformed.")
    }

    /// A decimal number as Redis writes it; no hexadecimal number, which Swift reads too.
    private static func double(_ text: String) -> Double? {
        switch text {
        case "inf": .infinity
        case "-inf": -.infinity
        case "nan", "-nan": .nan
        default:
            text.utf8.allSatisfy { (48...57).contains($0) || "+-.eE".utf8.contains($0) } ? Double(text) : nil
        }
    }

    /// The integer behind the type of the line.
    private func integer(_ name: String) throws(RESPFailure) -> Int64 {
        let isNegative = line.dropFirst().first == UInt8(ascii: "-")
        let hasSign = isNegative || line.dropFirst().first == UInt8(ascii: "+")
        let digits = line.dropFirst(hasSign ? 2 : 1)
        var number: Int64 = 0
        var overflows = digits.isEmpty
        for digit in digits {
            guard (48...57).contains(digit) else {
                overflows = true
                break
            }
            let (product, first) = number.multipliedReportingOverflow(by: 10)
            let value = Int64(digit) - 48
            let (sum, second) =
                isNegative
                ? product.subtractingReportingOverflow(value) : product.addingReportingOverflow(value)
            number = sum
            overflows = overflows || first || second
        }
        guard !overflows else { throw RESPFailure("An \(name) is no number of 64 bits.") }
        return number
    }

    private static func shown(_ type: UInt8) -> String {
        (33...126).contains(type) ? "“\(Character(Unicode.Scalar(type)))”" : "\(type)"
    }

    // MARK: Strings

    private mutating func beginBulk(_ kind: StringKind, _ name: String) throws(RESPFailure) -> RESPValue? {
        let length = try integer("announced length")
        // RESP2 has no other null.
        if length == -1, kind == .bytes { return .null }
        guard length >= 0 else { throw RESPFailure("The length of a \(name) is negative.") }
        guard length <= limits.bulkBytes else {
            throw RESPFailure("A \(name) of \(length) bytes is longer than \(limits.bulkBytes) bytes.")
        }
        bytes += Int(length) * (kind == .error ? Self.textGrowth : 1)
        try checkSize()
        bulkKind = kind
        bulk = []
        bulk.reserveCapacity(Int(length))
        step = length == 0 ? .bulkEnd(isHalf: false) : .bulk(missing: Int(length))
        return nil
    }

    private mutating func endBulk() throws(RESPFailure) -> RESPValue {
        var text: [UInt8] = []
        swap(&text, &bulk)
        switch bulkKind {
        case .bytes: return .bytes(text)
        case .error: return .error(RESPError(String(decoding: text, as: UTF8.self)))
        case .verbatim:
            guard text.count >= 4, text[3] == UInt8(ascii: ":") else { throw RESPFailure("A text names no format.") }
            return .bytes([UInt8](text.dropFirst(4)))
        }
    }

    // MARK: Aggregates

    private mutating func beginAggregate(
        _ kind: AggregateKind, mayBeNull: Bool = true
    ) throws(RESPFailure) -> RESPValue? {
        let count = try integer("announced count")
        if count == -1, mayBeNull { return .null }
        guard count >= 0 else { throw RESPFailure("The number of elements is negative.") }
        guard kind != .push || frames.isEmpty else { throw RESPFailure("A push is inside of another value.") }
        guard kind != .push || count > 0 else { throw RESPFailure("A push is empty.") }
        guard frames.count < limits.depth else { throw RESPFailure("Values are nested deeper than \(limits.depth).") }
        let isOfPairs = kind == .map || kind == .attribute
        guard count <= Int64((limits.elements - elements) / (isOfPairs ? 2 : 1)) else {
            throw RESPFailure("A message has more than \(limits.elements) elements.")
        }
        let missing = Int(count) * (isOfPairs ? 2 : 1)
        elements += missing
        bytes += MemoryLayout<Frame>.stride + missing * MemoryLayout<RESPValue>.stride
        try checkSize()
        guard missing > 0 else {
            // An empty attribute says nothing about the value that follows.
            return kind == .attribute ? nil : Self.value(kind, [])
        }
        var frame = Frame(kind: kind, missing: missing)
        frame.values.reserveCapacity(min(missing, 1_024))
        frames.append(frame)
        return nil
    }

    /// Adds a value to what it is an element of, and delivers the message if that was its last one.
    private mutating func complete(_ value: RESPValue, _ deliver: (RESPMessage) -> Void) throws(RESPFailure) {
        try checkSize()
        var value = value
        while let last = frames.indices.last {
            frames[last].values.append(value)
            frames[last].missing -= 1
            guard frames[last].missing == 0, let frame = frames.popLast() else { return }
            switch frame.kind {
            case .array, .map: value = Self.value(frame.kind, frame.values)
            // What is said about a value is not kept, and the value follows.
            case .attribute: return
            case .push:
                endMessage()
                return deliver(.push(frame.values))
            }
        }
        endMessage()
        deliver(.reply(value))
    }

    private mutating func endMessage() {
        elements = 0
        bytes = 0
    }

    private static func value(_ kind: AggregateKind, _ values: [RESPValue]) -> RESPValue {
        kind == .map ? .map(values) : .array(values)
    }

    private func checkSize() throws(RESPFailure) {
        guard bytes <= limits.messageBytes else {
            throw RESPFailure("A message needs more than \(limits.messageBytes) bytes.")
        }
    }
}
