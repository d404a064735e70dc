/// How ``FormParameters`` become a query or the body of a form.
///
/// ```swift
/// var encoding = FormEncoding.standard
/// encoding.arrays = .comma
/// try encoding.query(["ids": [1, 2, 3]])     // ids=1,2,3
/// ```
///
/// Names are sorted without regard to case, equals by their scalars, at every level. `k[in]` is a value of a
/// dictionary; a set's values stand under the name itself, sorted; an empty container gives nothing. All but the
/// unreserved characters of RFC 3986, 2.3 is percent-encoded, also brackets in names that are not ours to add; a space
/// is `%20`, never `+`.
public struct FormEncoding: Sendable, Hashable {
    /// The form of true and false.
    public enum Booleans: Sendable, Hashable {
        /// `1` and `0`.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// The form of nothing.
    public enum Null: Sendable, Hashable {
        /// `name`.
        case keyOnly
        /// Nothing at all.
        case drop
        /// `name=`.
        case empty
        /// `name=null`.
        case literal
    }

    /// The form of arrays.
    public enum Arrays: Sendable, Hashable {
        /// `name[]=1&name[]=2`.
        case brackets
        /// `name[0]=1&name[1]=2`.
        case indexed
        /// `name=1&name=2`.
        case `repeat`
        /// `name=1,2`; a comma in a value is escaped. Containers in arrays are the failure `encoding`.
        case comma
    }

    /// The form of dates.
    public enum Dates: Sendable, Hashable {
        /// `2015-12-31T23:59:59Z`, to the second.
        case iso8601
        /// Since 1970, with a fraction if there is one.
        case seconds
        /// Since 1970, rounded to a whole number.
        case milliseconds
    }

    /// The form of bytes.
    public enum Bytes: Sendable, Hashable {
        /// With `-` and `_`, without padding (RFC 4648, 5).
        case base64url
        /// With `+`, `/` and padding (RFC 4648, 4), which are percent-encoded then.
        case base64
    }

    /// The form of true and false.
    public var booleans: Booleans
    /// The form of nothing.
    public var null: Null
    /// The form of arrays.
    public var arrays: Arrays
    /// The form of dates.
    public var dates: Dates
    /// The form of bytes.
    public var data: Bytes

    /// `a[]=1`, `k[in]=v`, `1` and `0`, the bare name for null, ISO 8601, base64url.
    public static let standard = FormEncoding()

    /// Makes an encoding.
    public init(
        booleans: Booleans = .numeric, null: Null = .keyOnly, arrays: Arrays = .brackets, dates: Dates = .iso8601,
        data: Bytes = .base64url
    ) {
        self.booleans = booleans
        self.null = null
        self.arrays = arrays
        self.dates = dates
        self.data = data
    }

    /// The whole query, percent-encoded; empty when there is nothing to say.
    ///
    /// - Parameters:
    ///   - parameters: The values.
    ///   - charset: As which bytes characters are percent-encoded. It must contain ASCII.
    /// - Throws: `encoding` for a number or date that has no such form, for a character that the charset lacks, and for
    ///   values nested more than ``FormParameters/maximumDepth`` deep. The message names the place.
    public func query(_ parameters: FormParameters, charset: Charset = .utf8) throws(RequestFailure) -> String {
        guard charset.containsASCII else {
            throw RequestFailure(
                .encoding, "A form cannot be written in the charset \(charset.name).", remedy: "Use utf-8.")
        }
        let writer = FormWriter(encoding: self, charset: charset)
        return try writer.pairs(parameters).joined(separator: "&")
    }
}
