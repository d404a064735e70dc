/// The value of a `Cookie` field for one URL: the jar's cookies in their order.
///
/// A stage adds it to a request like this:
///
/// ```swift
/// if let cookies = jar.field(for: request.url) { cookies.add(to: &request.headerFields) }
/// ```
///
/// Descriptions and mirrors contain neither names nor values.
public struct CookieField: Sendable, Hashable {
    /// The maximum size of the field in bytes.
    package static let maximumSize = 16_384

    /// Names and values, separated by `; `.
    public let bytes: [UInt8]
    /// The number of cookies in the field.
    public let count: Int
    /// The number of cookies that were left out, because the field would be longer than 16,384 bytes.
    public var omittedCount: Int { omitted.count }
    /// Names and values of the cookies that were left out, in their order. They follow those of the field.
    let omitted: [[UInt8]]

    package init(bytes: [UInt8], count: Int, omitted: [[UInt8]] = []) {
        self.bytes = bytes
        self.count = count
        self.omitted = omitted
    }

    /// Adds the field to those of a request. If the request has `Cookie` fields of its own, both are merged into one:
    /// the request's cookies come first, and the jar's follow unless the request has one of the same name.
    ///
    /// - Returns: The number of the jar's cookies that were left out because of the size limit.
    @discardableResult
    public func add(to fields: inout HTTPFields) -> Int {
        let own = fields[fields: .cookie]
        guard !own.isEmpty else {
            fields.append(HTTPField(name: .cookie, value: bytes))
            return omittedCount
        }
        var values: [UInt8] = []
        for field in own {
            if !values.isEmpty { values += Self.separator }
            field.withUnsafeBytesOfValue { values += $0 }
        }
        let merged = Self.merge(own: values, with: self)
        fields[fields: .cookie] = [HTTPField(name: .cookie, value: merged.bytes)]
        return merged.omittedCount
    }

    /// Merges a request's own `Cookie` value with the jar's. The request's value stays as it is, even if it alone
    /// exceeds the maximum size.
    ///
    /// Cookies that had no room in the jar's field get the room of those that the request replaces. Only cookies that
    /// would be sent if there were room count as left out.
    package static func merge(
        own: [UInt8], with jar: CookieField, maximumSize: Int = CookieField.maximumSize
    ) -> CookieField {
        let ownNames = Set(pairs(of: own).map { Array(name(of: $0)) })
        var bytes = own
        while let last = bytes.last, last == UInt8(ascii: " ") || last == UInt8(ascii: ";") { bytes.removeLast() }
        var (count, omitted) = (ownNames.count, [[UInt8]]())
        for pair in pairs(of: jar.bytes) + jar.omitted.map({ $0[...] }) where !ownNames.contains(Array(name(of: pair)))
        {
            let separator = bytes.isEmpty ? [] : separator
            // After the first cookie without room none is added, so that the order decides which ones are sent.
            if !omitted.isEmpty || bytes.count + separator.count + pair.count > maximumSize {
                omitted.append(Array(pair))
            } else {
                bytes += separator + pair
                count += 1
            }
        }
        return CookieField(bytes: bytes, count: count, omitted: omitted)
    }

    static let separator: [UInt8] = [UInt8(ascii: ";"), UInt8(ascii: " ")]

    private static func pairs(of value: [UInt8]) -> [ArraySlice<UInt8>] {
        value.split(separator: UInt8(ascii: ";")).map(trimmed).filter { !$0.isEmpty }
    }

    private static func name(of pair: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        trimmed(pair.prefix { $0 != UInt8(ascii: "=") })
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes.drop(while: \.isBlank)
        while rest.last == 0x20 || rest.last == 0x09 { rest.removeLast() }
        return rest
    }
}

extension CookieField: CustomStringConvertible, CustomReflectable {
    /// The number of cookies and the size.
    public var description: String { "\(count) cookies, \(RedactedText.size(bytes.count))" }

    /// The number of cookies and the size.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["count": count, "bytes": RedactedText.size(bytes.count), "omittedCount": omittedCount])
    }
}
