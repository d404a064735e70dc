/// The meaning of one line of an event stream (WHATWG HTML, 9.2.6).
enum EventStreamField: Hashable {
    /// The empty line after an event.
    case end
    case event(String)
    case data(String)
    case id(String)
    case retry(Duration)
    /// A comment, an unknown field, or an invalid value.
    case ignored

    /// Parses a line without its line ending.
    init(line: UnsafeRawBufferPointer) {
        guard !line.isEmpty else {
            self = .end
            return
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        var value = line[(colon.map { $0 + 1 } ?? line.endIndex)...]
        // A single space after the colon is not part of the value.
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        let name = line[..<(colon ?? line.endIndex)]
        if name.elementsEqual("data".utf8) {
            self = .data(Self.text(value))
        } else if name.elementsEqual("event".utf8) {
            self = .event(Self.text(value))
        } else if name.elementsEqual("id".utf8), !value.contains(0) {
            self = .id(Self.text(value))
        } else if name.elementsEqual("retry".utf8), let time = Self.milliseconds(value) {
            self = .retry(time)
        } else {
            self = .ignored
        }
    }

    private static func text(_ value: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: value), as: UTF8.self)
    }

    /// A number of digits only; `nil` if it overflows 64 bits.
    private static func milliseconds(_ value: Slice<UnsafeRawBufferPointer>) -> Duration? {
        guard !value.isEmpty else { return nil }
        var number: Int64 = 0
        for byte in value {
            guard byte.isASCIIDigit else { return nil }
            let (shifted, isOver) = number.multipliedReportingOverflow(by: 10)
            let (sum, isSumOver) = shifted.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !isOver, !isSumOver else { return nil }
            number = sum
        }
        return .milliseconds(number)
    }
}
