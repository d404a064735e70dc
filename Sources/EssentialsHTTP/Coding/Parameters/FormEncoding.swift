/// The format in which ``FormParameters`` are written as a query or a form's body.
///
/// ```swift
/// var encoding = FormEncoding.standard
/// encoding.arrays = .comma
/// try encoding.query(["ids": [1, 2, 3]])     // ids=1,2,3
/// ```
///
/// At every level, names are sorted without regard to case, and equal ones by their Unicode scalars. A value in a
/// dictionary is written as `k[in]`. The values of a set are written under the name itself, sorted. An empty container
/// produces nothing. All characters except the unreserved ones of RFC 3986, 2.3 are percent-encoded, also brackets
/// within names. A space is `%20`, never `+`.
public struct FormEncoding: Sendable, Hashable {
    /// The format of Booleans.
    public enum Booleans: Sendable, Hashable {
        /// `1` and `0`.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// The format of null.
    public enum Null: Sendable, Hashable {
        /// The name alone: `name`.
        case keyOnly
        /// The parameter is omitted.
        case drop
        /// `name=`.
        case empty
        /// `name=null`.
        case literal
    }

    /// The format of arrays.
    public enum Arrays: Sendable, Hashable {
        /// `name[]=1&name[]=2`.
        case brackets
        /// `name[0]=1&name[1]=2`.
        case indexed
        /// `name=1&name=2`.
        case `repeat`
        /// `name=1,2`. A comma in a value is escaped. A container in an array fails with `encoding`.
        case comma
    }

    /// The format of dates.
    public enum Dates: Sendable, Hashable {
        /// `2015-12-31T23:59:59Z`, to the second.
        case iso8601
        /// Seconds since 1970, with a fraction if there is one.
        case seconds
        /// Milliseconds since 1970, rounded to a whole number.
        case milliseconds
    }

    /// The format of bytes.
    public enum Bytes: Sendable, Hashable {
        /// The alphabet with `-` and `_`, without padding (RFC 4648, 5).
        case base64url
        /// The alphabet with `+` and `/`, with padding (RFC 4648, 4). These characters are then percent-encoded.
        case base64
    }

    /// The format of Booleans. The default is `numeric`.
    public var booleans: Booleans
    /// The format of null. The default is `keyOnly`.
    public var null: Null
    /// The format of arrays. The default is `brackets`.
    public var arrays: Arrays
    /// The format of dates. The default is `iso8601`.
    public var dates: Dates
    /// The format of bytes. The default is `base64url`.
    public var data: Bytes

    /// The encoding with the default of every property.
    public static let standard = FormEncoding()

    /// Creates an encoding.
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

    /// The percent-encoded query; empty without parameters.
    ///
    /// - Parameters:
    ///   - parameters: The values.
    ///   - charset: The charset of the percent-encoded bytes. It must contain ASCII.
    /// - Throws: `encoding` if a number or date cannot be represented, if the charset cannot represent a character, or
    ///   if values are nested more than ``FormParameters/maximumDepth`` levels. The message names the parameter.
    public func query(_ parameters: FormParameters, charset: Charset = .utf8) throws(RequestFailure) -> String {
        guard charset.containsASCII else {
            throw RequestFailure(
                .encoding, "A form cannot be encoded in the charset \(charset.name).", remedy: "Use utf-8.")
        }
        let writer = FormWriter(encoding: self, charset: charset)
        return try writer.pairs(parameters).joined(separator: "&")
    }
}
