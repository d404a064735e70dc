import EssentialsTools

/// The name of a type in the keys of caches.
///
/// The standard library names a private or local type by an address, such as `Shop.(unknown context at $5573d9a8).Coin`,
/// which is another one each time that the program starts. Here the address is replaced by the build identifier of the
/// program or library that contains it, and the place in it. Both are the same at each start of one binary, and another
/// binary has other names, because private types of one name could not be told apart otherwise.
package struct TypeName: Sendable, Hashable {
    /// The name, which belongs to one type only.
    package let text: String
    /// Whether the next start of the program has the same name, so that it can be stored.
    package let isLasting: Bool

    package init(_ type: Any.Type) { self = Self.cached(String(reflecting: type)) }

    /// - Parameters:
    ///   - name: The name as the standard library gives it.
    ///   - place: Returns the text for an address; `nil` if it is not known.
    package init(_ name: String, place: (UInt) -> String?) {
        let bytes = Array(name.utf8)
        var result: [UInt8] = []
        var (index, isLasting) = (0, true)
        while index < bytes.count {
            guard let (address, end) = Self.address(in: bytes, at: index) else {
                result.append(bytes[index])
                index += 1
                continue
            }
            if let place = address.flatMap(place) {
                result += Self.mark.dropLast() + place.utf8
            } else {
                isLasting = false
                result += bytes[index..<end]
            }
            index = end
        }
        (text, self.isLasting) = (String(decoding: result, as: UTF8.self), isLasting)
    }

    /// What stands before an address.
    private static let mark = Array("(unknown context at $".utf8)

    /// The address behind the mark at a position, and its end; `nil` if there is no mark. The address is `nil` if it is too
    /// large.
    private static func address(in bytes: [UInt8], at index: Int) -> (UInt?, Int)? {
        guard bytes[index] == mark[0], bytes[index...].starts(with: mark) else { return nil }
        let start = index + mark.count
        let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.endIndex
        guard end > start else { return nil }
        return (UInt(String(decoding: bytes[start..<end], as: UTF8.self), radix: 16), end)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    // MARK: Known names

    /// The names with addresses that were made. Looking an address up takes a microsecond.
    private static let known = Mutex<[String: TypeName]>([:])
    /// More types than a program fetches. Beyond it they are made again.
    private static let maximumKnown = 1_024

    private static func cached(_ name: String) -> TypeName {
        // Most names have no address.
        guard name.utf8.contains(UInt8(ascii: "$")) else { return TypeName(name: name) }
        if let made = known.withLock({ $0[name] }) { return made }
        let made = TypeName(name) { LoadedImage.place(of: $0) }
        known.withLock { known in
            if known.count >= maximumKnown { known = [:] }
            known[name] = made
        }
        return made
    }

    /// A name without an address.
    private init(name: String) { (text, isLasting) = (name, true) }
}
