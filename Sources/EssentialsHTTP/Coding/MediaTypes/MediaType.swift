/// A media type with its parameters, as `Content-Type` has it (RFC 9110, 8.3.1).
///
/// ```swift
/// let type = try MediaType("Application/Problem+JSON; Charset=\"utf-8\"")
/// type.essence                  // "application/problem+json"
/// type.suffix                   // "json"
/// type.charset                  // "utf-8"
/// ```
///
/// Type, subtype and names of parameters are lower-cased. Two are equal when their parameters are, in whatever order;
/// the value of `charset` is compared without case.
public struct MediaType: Sendable {
    /// A parameter: its lower-case name and its value without quotation marks.
    public struct Parameter: Sendable, Hashable {
        /// Lower-case.
        public let name: String
        /// As it was written, without quotation marks.
        public let value: String
    }

    /// The part before the slash, lower-case.
    public let type: String
    /// The part after the slash, lower-case.
    public let subtype: String
    /// The parameters in their order; no name twice.
    public let parameters: [Parameter]

    /// How many parameters are read. More are an error in ``init(_:)``, and passed over in ``init(parsing:)``.
    public static let maximumParameters = 32

    /// Reads a media type that a program wrote.
    ///
    /// - Throws: `invalidRequest` for a text that is none: no slash, a character that may not stand there, an asterisk
    ///   (that is a ``MediaPattern``), a parameter without a value, a name twice.
    public init(_ text: String) throws(RequestFailure) {
        do {
            self = try MediaTypeReader.read(text, isStrict: true)
        } catch {
            throw RequestFailure(
                .invalidRequest, "“\(RequestFailure.shown(text))” is no media type: \(error.text).",
                remedy: "Write type/subtype, with parameters as in “text/plain; charset=utf-8”.")
        }
    }

    /// Reads a media type that a peer sent; nil where there is no type and subtype.
    ///
    /// What is wrong in the parameters is passed over; of equal names the first counts.
    public init?(parsing text: some StringProtocol) {
        guard let read = try? MediaTypeReader.read(text, isStrict: false) else { return nil }
        self = read
    }

    init(type: String, subtype: String, parameters: [Parameter] = []) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
    }

    /// Type and subtype, as in `text/plain`.
    public var essence: String { "\(type)/\(subtype)" }

    /// What stands after the subtype's last `+`: `json` in `application/problem+json` (RFC 6838, 4.2.8); nil without
    /// one.
    public var suffix: String? {
        guard let plus = subtype.utf8.lastIndex(of: UInt8(ascii: "+")) else { return nil }
        let suffix = subtype[subtype.utf8.index(after: plus)...]
        return suffix.isEmpty ? nil : String(suffix)
    }

    /// The parameter `charset`, as it was written.
    public var charset: String? { parameter("charset") }

    /// The value of a parameter, whatever the case of its name.
    public func parameter(_ name: String) -> String? {
        let name = name.lowercased()
        return parameters.first { $0.name == name }?.value
    }

    /// The same type with one parameter set, in its place if it is there, else at the end; with nil it is removed.
    ///
    /// - Throws: `invalidRequest` for a name that is no token (RFC 9110, 5.6.2), for a value with a control character,
    ///   and for more than ``maximumParameters``.
    public func settingParameter(_ name: String, to value: String?) throws(RequestFailure) -> MediaType {
        guard MediaTypeReader.isToken(name.utf8) else {
            throw RequestFailure(
                .invalidRequest, "“\(RequestFailure.shown(name))” cannot be the name of a media type's parameter.",
                remedy: "Use letters, digits and hyphens.")
        }
        if let value, !value.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7f }) {
            throw RequestFailure(
                .invalidRequest, "The value for the parameter “\(name)” has a control character.",
                remedy: "Take line breaks and other control characters out of it.")
        }
        let result = setting(name.lowercased(), to: value)
        guard result.parameters.count <= max(Self.maximumParameters, parameters.count) else {
            throw RequestFailure(
                .invalidRequest, "A media type has \(Self.maximumParameters) parameters at most.",
                remedy: "Remove one first.")
        }
        return result
    }

    /// The essence for a message: a peer may have chosen it.
    var shown: String { RequestFailure.shown(essence) }

    /// Without checks, for names and values of ours.
    func setting(_ name: String, to value: String?) -> MediaType {
        var changed = parameters
        let index = changed.firstIndex { $0.name == name }
        switch (index, value) {
        case (let index?, let value?): changed[index] = Parameter(name: name, value: value)
        case (let index?, nil): changed.remove(at: index)
        case (nil, let value?): changed.append(Parameter(name: name, value: value))
        case (nil, nil): break
        }
        return MediaType(type: type, subtype: subtype, parameters: changed)
    }

    /// The same type with `charset=utf-8`, unless it has a charset.
    var withDefaultCharset: MediaType { charset == nil ? setting("charset", to: "utf-8") : self }
}

extension MediaType: Hashable {
    /// Whether both are the same type with the same parameters, in whatever order.
    public static func == (one: MediaType, other: MediaType) -> Bool {
        one.type == other.type && one.subtype == other.subtype && one.comparable == other.comparable
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(subtype)
        hasher.combine(comparable)
    }

    private var comparable: Set<Parameter> {
        Set(parameters.map { $0.name == "charset" ? Parameter(name: $0.name, value: $0.value.lowercased()) : $0 })
    }
}

extension MediaType: CustomStringConvertible {
    /// The type as a header field has it; values that are no tokens stand in quotation marks.
    public var description: String {
        parameters.reduce(into: essence) { text, parameter in
            text += "; \(parameter.name)="
            if MediaTypeReader.isToken(parameter.value.utf8) {
                text += parameter.value
            } else {
                text += MultipartHeadRules.quoted(parameter.value)
            }
        }
    }
}

extension MediaType {
    /// `application/json`.
    public static let json = MediaType(type: "application", subtype: "json")
    /// `application/x-www-form-urlencoded`.
    public static let form = MediaType(type: "application", subtype: "x-www-form-urlencoded")
    /// `text/plain`.
    public static let text = MediaType(type: "text", subtype: "plain")
    /// `text/html`.
    public static let html = MediaType(type: "text", subtype: "html")
    /// `application/octet-stream`.
    public static let octetStream = MediaType(type: "application", subtype: "octet-stream")
    /// `multipart/form-data`, without its boundary.
    public static let multipartFormData = MediaType(type: "multipart", subtype: "form-data")
}
