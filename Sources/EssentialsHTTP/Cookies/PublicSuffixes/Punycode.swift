/// Encodes labels of domain names in ASCII (RFC 3492). There is no decoder, because nothing needs it.
enum Punycode {
    /// The maximum number of characters of a label. The encoding takes quadratic time.
    static let maximumCount = 63

    private static let (base, minimum, maximum, skew, damp) = (36, 1, 26, 38, 700)
    private static let (initialBias, initialCode) = (72, 128)

    /// The label itself if it is ASCII, and its A-label otherwise (`xn--…`); `nil` if it is too long. The label must be
    /// normalized already (RFC 5891, section 5.2).
    static func asciiLabel(_ label: some StringProtocol) -> String? {
        if label.utf8.allSatisfy({ $0 < 0x80 }) { return String(label) }
        let characters = label.unicodeScalars.map { Int($0.value) }
        guard characters.count <= maximumCount else { return nil }
        return "xn--" + encoded(characters)
    }

    /// The characters in the form of RFC 3492, section 6.3. No sum can overflow, because there are few characters.
    private static func encoded(_ characters: [Int]) -> String {
        let basic = characters.filter { $0 < initialCode }
        var output = basic.map { UInt8(truncatingIfNeeded: $0) }
        if !basic.isEmpty { output.append(UInt8(ascii: "-")) }
        var (code, delta, bias, handled) = (initialCode, 0, initialBias, basic.count)
        while handled < characters.count, let next = characters.filter({ $0 >= code }).min() {
            delta += (next - code) * (handled + 1)
            code = next
            for character in characters {
                if character < code { delta += 1 }
                guard character == code else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basic.count)
                delta = 0
                handled += 1
            }
            delta += 1
            code += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a number of variable length (RFC 3492, section 3.3).
    private static func append(_ number: Int, bias: Int, to output: inout [UInt8]) {
        var (rest, position) = (number, base)
        while true {
            let threshold = min(max(position - bias, minimum), maximum)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        output.append(digit(rest))
    }

    /// The bias for the next number (RFC 3492, section 6.1).
    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var rest = isFirst ? delta / damp : delta / 2
        rest += rest / count
        var result = 0
        while rest > (base - minimum) * maximum / 2 {
            rest /= base - minimum
            result += base
        }
        return result + (base - minimum + 1) * rest / (rest + skew)
    }

    private static func digit(_ value: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 26 ? value + 0x61 : value - 26 + 0x30)
    }
}
