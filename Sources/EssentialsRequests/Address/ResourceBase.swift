import EssentialsHTTP

/// The base URL of a service, and the rules by which texts become URLs of resources.
///
/// The path of the base gets a slash at its end. The query of the base is part of every URL that is built from a path.
///
/// This is a class because its many constants would be retained one by one at each look-up.
///
/// A table can find the resource of a plain path without building its URL. It stores URLs under ``hash(of:)``, looks
/// paths up under ``hash(ofPlain:)``, and compares with ``matches(plain:_:)``:
///
/// ```swift
/// let found = PathText.withPlain(path) { bytes in
///     table.bucket(base.hash(ofPlain: bytes)).first { base.matches(plain: bytes, $0.url) }
/// }
/// ```
package final class ResourceBase: Sendable, Hashable {
    /// The base of a service without a base URL. URLs below it keep their paths, and their loads fail.
    ///
    /// The name is reserved (RFC 6761, 6.4), so that no resource that works lies below it.
    package static let missing = ResourceBase(nil)

    /// The canonical URL up to the slash at the end of its path.
    package let prefix: String
    /// The canonical URL of the origin, with a slash at its end.
    package let root: String
    /// The base's query with its `?`; empty if there is none.
    package let suffix: String
    /// The origin; `nil` if there is no base URL.
    private let origin: Origin?
    /// The bytes of ``prefix`` and ``suffix``, for look-ups.
    private let prefixBytes: [UInt8]
    private let suffixBytes: [UInt8]
    /// The state of a hash after ``prefix``.
    private let prefixHash: TextHash

    private init(prefix: String, root: String, suffix: String, origin: Origin?) {
        (self.prefix, self.root, self.suffix, self.origin) = (prefix, root, suffix, origin)
        (prefixBytes, suffixBytes) = (Array(prefix.utf8), Array(suffix.utf8))
        var hash = TextHash()
        prefixBytes.withUnsafeBufferPointer { hash.combine($0) }
        prefixHash = hash
    }

    /// Creates the base for an environment's URL, or one that equals ``missing`` if there is none.
    package convenience init(_ url: RequestURL?) {
        guard let url else {
            let prefix = "https://base.invalid/"
            self.init(prefix: prefix, root: prefix, suffix: "", origin: nil)
            return
        }
        let target = CanonicalRules.target(url.target)
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        let origin = url.origin.description
        let slash = path.last == UInt8(ascii: "/") ? "" : "/"
        let query = target.utf8[path.endIndex...]
        self.init(
            prefix: origin + String(Substring(path)) + slash, root: origin + "/",
            suffix: query.count > 1 ? String(Substring(query)) : "", origin: url.origin)
    }

    /// Whether there is no base URL.
    package var isMissing: Bool { origin == nil }

    /// The query that every path gets, without `?`.
    private var query: Substring { suffix.dropFirst() }

    // MARK: - Identity

    /// The URL of a path text: the text is appended to the base, without one leading slash. Every character stands for
    /// itself, so `?`, `#` and `%` are escaped, and a scheme or `//` has no meaning.
    package func url(path: String) -> ResourceURL {
        if PathText.isPlain(path) {
            let text = "\(prefix)\(Substring(PathText.withoutSlash(path)))\(suffix)"
            return ResourceURL(canonical: text, place: isMissing ? .unusable(.noBase) : .below)
        }
        var bytes = Array(prefix.utf8)
        PathText.append(PathText.withoutSlash(path), to: &bytes)
        return url(bytes, after: prefix.utf8.count, query: suffix.isEmpty ? nil : query)
    }

    /// The URL of segments below the base. A slash inside a segment is escaped, and empty segments are left out.
    package func url(segments: [String]) -> ResourceURL {
        var bytes = Array(prefix.utf8)
        for segment in segments where !segment.isEmpty {
            if bytes.count > prefix.utf8.count { bytes.append(UInt8(ascii: "/")) }
            PathText.append(segment: segment, to: &bytes)
        }
        return url(bytes, after: prefix.utf8.count, query: suffix.isEmpty ? nil : query)
    }

    /// The URL of a text that is a whole URL, regardless of the base. `nil` gives one URL whose loads fail.
    package func url(whole text: String?) -> ResourceURL {
        guard let text else { return ResourceURL(canonical: "", place: .unusable(.noURL)) }
        // The check comes first, so that no text that is too long is parsed.
        guard text.utf8.count <= ResourceURL.maximumBytes, let canonical = try? CanonicalRules.canonical(text) else {
            return ResourceURL(canonical: text, place: .unusable(.malformed))
        }
        return url(canonical: canonical)
    }

    /// The URL of a path text below a resource, whose query is kept. An empty text gives the resource's path with a
    /// slash at its end.
    package func child(of url: ResourceURL, _ text: String) -> ResourceURL {
        var bytes = Array(url.path.utf8)
        if bytes.last != UInt8(ascii: "/") { bytes.append(UInt8(ascii: "/")) }
        let start = bytes.count
        PathText.append(PathText.withoutSlash(text), to: &bytes)
        return self.url(bytes, after: start, query: url.query, fault: url.place)
    }

    /// The URL of one segment below a resource, whose query is kept. A slash inside the segment is escaped, and an empty
    /// one gives the resource's path with a slash at its end.
    package func child(of url: ResourceURL, segment: String) -> ResourceURL {
        var bytes = Array(url.path.utf8)
        if bytes.last != UInt8(ascii: "/") { bytes.append(UInt8(ascii: "/")) }
        let start = bytes.count
        PathText.append(segment: segment, to: &bytes)
        return self.url(bytes, after: start, query: url.query, fault: url.place)
    }

    /// The URL of a reference relative to a resource (RFC 3986, 5.2.2); `nil` for `nil`. A reference that leads to no
    /// `http` or `https` URL gives one whose loads fail.
    package func relative(to url: ResourceURL, _ reference: String?) -> ResourceURL? {
        guard let reference else { return nil }
        guard reference.utf8.count <= ResourceURL.maximumBytes else { return self.url(whole: reference) }
        // A path without a base URL is resolved all the same, because the base can come later.
        let start = url.place == .unusable(.noBase) ? try? RequestURL(url.text) : try? url.requestURL()
        guard let start else {
            return ReferenceRules.hasScheme(reference)
                ? self.url(whole: reference) : ResourceURL(canonical: "\(url.text) \(reference)", place: url.place)
        }
        guard let target = try? ReferenceRules.resolve(reference, against: start) else {
            return ResourceURL(canonical: reference, place: .unusable(.malformed))
        }
        return self.url(canonical: CanonicalRules.canonical(target))
    }

    /// The URL of a resource with other parameters; see ``ParameterRules/query(_:setting:)``.
    package func url(_ url: ResourceURL, setting parameters: QueryItems) -> ResourceURL {
        let query = ParameterRules.query(url.query, setting: parameters)
        return self.url(Array(url.path.utf8), after: url.path.utf8.count, query: query?[...], fault: url.place)
    }

    /// The URL of a canonical text.
    private func url(canonical text: String) -> ResourceURL { ResourceURL(canonical: text, place: place(of: text)) }

    /// The URL of a path and a query. Dot segments after a position are a fault, and an earlier fault stays.
    private func url(
        _ path: [UInt8], after start: Int, query: Substring?, fault: ResourceURL.Place = .below
    ) -> ResourceURL {
        let text = String(decoding: path, as: UTF8.self) + (query.map { "?\($0)" } ?? "")
        switch fault {
        case .unusable(.noBase), .below, .sameOrigin, .otherOrigin: break
        case .unusable: return ResourceURL(canonical: text, place: fault)
        }
        let hasDots = PathText.hasDotSegment(path[start...])
        return ResourceURL(canonical: text, place: hasDots ? .unusable(.dotSegment) : place(of: text))
    }

    private func place(of text: String) -> ResourceURL.Place {
        if text.utf8.starts(with: prefix.utf8) { return isMissing ? .unusable(.noBase) : .below }
        return text.utf8.starts(with: root.utf8) ? .sameOrigin : .otherOrigin
    }

    /// The URL to load, as ``ResourceURL/requestURL()``. The origin of the base is not parsed again, which takes most of
    /// the time.
    ///
    /// - Throws: `invalidRequest` if the resource cannot be loaded.
    package func requestURL(of url: ResourceURL) throws(RequestFailure) -> RequestURL {
        guard url.place == .below || url.place == .sameOrigin, let origin, url.text.utf8.starts(with: root.utf8) else {
            return try url.requestURL()
        }
        // The slash at the end of the root is the first of the path.
        return try RequestURL(origin: origin, path: String(Substring(url.text.utf8.dropFirst(root.utf8.count - 1))))
    }

    // MARK: - Another base

    /// The URL that a resource has under this base. What lay below the old base lies below this one, at the same path
    /// and with this base's query instead of the old one's. Any other URL stays, and is classified anew.
    package func url(moving url: ResourceURL, from old: ResourceBase) -> ResourceURL {
        switch url.place {
        case .unusable(.malformed), .unusable(.noURL), .unusable(.tooLong): return url
        case .below, .sameOrigin, .otherOrigin, .unusable(.noBase), .unusable(.dotSegment): break
        }
        let hasDots = url.place == .unusable(.dotSegment)
        guard url.text.utf8.starts(with: old.prefix.utf8) else {
            return hasDots ? url : self.url(canonical: url.text)
        }
        var path = Array(prefix.utf8)
        path += url.path.utf8.dropFirst(old.prefix.utf8.count)
        let query = query(moving: url.query, from: old)
        return self.url(path, after: hasDots ? prefix.utf8.count : path.count, query: query?[...])
    }

    /// The path and the query of a URL below the base, by which it is identified when the base changes; `nil` for URLs
    /// that do not lie below it.
    package func part(of url: ResourceURL) -> Substring? {
        url.text.utf8.starts(with: prefix.utf8) ? Substring(url.text.utf8.dropFirst(prefix.utf8.count)) : nil
    }

    private func query(moving query: Substring?, from old: ResourceBase) -> String? {
        guard let found = query ?? (old.suffix.isEmpty ? "" : nil),
            let (extra, isSorted) = ParameterRules.extra(in: found, beside: old.query)
        else { return query.map { String($0) } }
        // An empty query of its own stays.
        if extra == nil, suffix.isEmpty { return query?.isEmpty == true ? "" : nil }
        return ParameterRules.merged(self.query, with: extra, isSorted: isSorted)
    }

    // MARK: - Look-up by plain path

    /// The hash of a URL, which equals ``hash(ofPlain:)`` for the path of which it was made.
    package func hash(of url: ResourceURL) -> Int {
        var text = url.text
        return text.withUTF8 { bytes in
            guard bytes.hasPrefix(prefixBytes) else {
                var hash = TextHash()
                hash.combine(bytes)
                return hash.value
            }
            let rest = bytes.from(prefixBytes.count)
            // The query is hashed apart, as in a look-up by path.
            let path = rest.offset(of: UInt8(ascii: "?"))
            return hash(UnsafeBufferPointer(rebasing: rest[..<path]), rest.from(path))
        }
    }

    /// The hash of the URL of a plain path; see ``PathText/withPlain(_:_:)``. Nothing is allocated.
    package func hash(ofPlain path: UnsafeBufferPointer<UInt8>) -> Int {
        suffixBytes.withUnsafeBufferPointer { hash(path, $0) }
    }

    /// Whether a URL is that of a plain path. Nothing is allocated.
    package func matches(plain path: UnsafeBufferPointer<UInt8>, _ url: ResourceURL) -> Bool {
        var text = url.text
        return text.withUTF8 { bytes in
            guard bytes.count == prefixBytes.count + path.count + suffixBytes.count else { return false }
            // The path comes first, because it differs most often.
            return bytes.from(prefixBytes.count).hasPrefix(path) && bytes.hasPrefix(prefixBytes)
                && bytes.from(prefixBytes.count + path.count).hasPrefix(suffixBytes)
        }
    }

    /// Calls a closure with the path of a URL below the base, without its query. `nil` for URLs that do not lie below it.
    package func withPart<Result>(
        of url: ResourceURL, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result? {
        var text = url.text
        return text.withUTF8 { bytes in
            guard bytes.hasPrefix(prefixBytes) else { return nil }
            let rest = bytes.from(prefixBytes.count)
            return body(UnsafeBufferPointer(rebasing: rest[..<rest.offset(of: UInt8(ascii: "?"))]))
        }
    }

    private func hash(_ path: UnsafeBufferPointer<UInt8>, _ query: UnsafeBufferPointer<UInt8>) -> Int {
        var hash = prefixHash
        hash.combine(path)
        if !query.isEmpty { hash.combine(query) }
        return hash.value
    }

    package static func == (one: ResourceBase, other: ResourceBase) -> Bool {
        one.prefix == other.prefix && one.suffix == other.suffix
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(prefix)
        hasher.combine(suffix)
    }
}
