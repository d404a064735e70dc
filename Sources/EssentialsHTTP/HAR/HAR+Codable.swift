#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension HAR: Codable {
    private enum RootKeys: String, CodingKey { case log }
    private enum Keys: String, CodingKey { case version, creator, entries, comment }

    /// Decodes the member `log` of a HAR file. Members that other programs leave out take their defaults.
    public init(from decoder: any Decoder) throws {
        let log = try decoder.container(keyedBy: RootKeys.self).nestedContainer(keyedBy: Keys.self, forKey: .log)
        creator = log.value(.creator) ?? Creator(name: "", version: "")
        entries = try log.decode([Entry].self, forKey: .entries)
        comment = log.value(.comment)
    }

    /// Encodes the record as a HAR file has it.
    public func encode(to encoder: any Encoder) throws {
        var root = encoder.container(keyedBy: RootKeys.self)
        var log = root.nestedContainer(keyedBy: Keys.self, forKey: .log)
        try log.encode("1.2", forKey: .version)
        try log.encode(creator, forKey: .creator)
        try log.encode(entries, forKey: .entries)
        try log.encodeIfPresent(comment, forKey: .comment)
    }
}

extension HAR.Entry: Codable {
    private enum Keys: String, CodingKey {
        case startedDateTime, time, request, response, cache, timings, serverIPAddress, comment
        case call = "_call"
        case attempt = "_attempt"
        case source = "_source"
        case cacheStatus = "_cacheStatus"
        case failure = "_failure"
        case connection = "_connection"
        case command = "_curl"
        case isRunning = "_isRunning"
    }

    private struct Nothing: Encodable {}

    /// Decodes an entry.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        let text = try values.decode(String.self, forKey: .startedDateTime)
        guard let date = InternetDate.date(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: .startedDateTime, in: values, debugDescription: "“\(text)” is no date of RFC 3339.")
        }
        started = date
        request = try values.decode(HAR.Request.self, forKey: .request)
        response = values.value(.response) ?? HAR.Response()
        timings = values.value(.timings) ?? HAR.Timings()
        serverAddress = values.value(.serverIPAddress)
        call = values.value(.call)
        attempt = values.value(.attempt)
        source = values.value(.source)
        cacheStatus = values.value(.cacheStatus)
        failure = values.value(.failure)
        connection = values.value(.connection)
        command = values.value(.command)
        isRunning = values.value(.isRunning) ?? false
        comment = values.value(.comment)
    }

    /// Encodes the entry.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Keys.self)
        try values.encode(
            InternetDate.text(started, milliseconds: true) ?? "1970-01-01T00:00:00.000Z", forKey: .startedDateTime)
        try values.encode(time, forKey: .time)
        try values.encode(request, forKey: .request)
        try values.encode(response, forKey: .response)
        try values.encode(Nothing(), forKey: .cache)
        try values.encode(timings, forKey: .timings)
        try values.encodeIfPresent(serverAddress, forKey: .serverIPAddress)
        try values.encodeIfPresent(call, forKey: .call)
        try values.encodeIfPresent(attempt, forKey: .attempt)
        try values.encodeIfPresent(source, forKey: .source)
        try values.encodeIfPresent(cacheStatus, forKey: .cacheStatus)
        try values.encodeIfPresent(failure, forKey: .failure)
        try values.encodeIfPresent(connection, forKey: .connection)
        try values.encodeIfPresent(command, forKey: .command)
        if isRunning { try values.encode(true, forKey: .isRunning) }
        try values.encodeIfPresent(comment, forKey: .comment)
    }
}

extension HAR.Request: Codable {
    private enum Keys: String, CodingKey {
        case method, url, httpVersion, cookies, headers, queryString, postData, headersSize, bodySize
    }

    /// Decodes a request.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        method = try values.decode(String.self, forKey: .method)
        url = try values.decode(String.self, forKey: .url)
        httpVersion = values.value(.httpVersion) ?? ""
        headers = values.value(.headers) ?? []
        body = values.value(.postData)
        bodySize = values.size(.bodySize)
    }

    /// Encodes the request.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Keys.self)
        try values.encode(method, forKey: .method)
        try values.encode(url, forKey: .url)
        try values.encode(httpVersion, forKey: .httpVersion)
        // Cookies are in the header fields only, where they are hidden.
        try values.encode([HAR.Pair](), forKey: .cookies)
        try values.encode(headers, forKey: .headers)
        try values.encode(query, forKey: .queryString)
        try values.encodeIfPresent(body, forKey: .postData)
        try values.encode(-1, forKey: .headersSize)
        try values.encode(bodySize, forKey: .bodySize)
    }
}

extension HAR.Response: Codable {
    private enum Keys: String, CodingKey {
        case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
    }
    private enum ContentKeys: String, CodingKey { case size }

    /// Decodes a response.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        status = values.value(.status) ?? 0
        statusText = values.value(.statusText) ?? ""
        httpVersion = values.value(.httpVersion) ?? ""
        headers = values.value(.headers) ?? []
        body = values.value(.content) ?? HAR.Body()
        let content = try? values.nestedContainer(keyedBy: ContentKeys.self, forKey: .content)
        contentSize = content?.size(.size) ?? -1
        redirectURL = values.value(.redirectURL) ?? ""
        bodySize = values.size(.bodySize)
    }

    /// Encodes the response.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Keys.self)
        try values.encode(status, forKey: .status)
        try values.encode(statusText, forKey: .statusText)
        try values.encode(httpVersion, forKey: .httpVersion)
        try values.encode([HAR.Pair](), forKey: .cookies)
        try values.encode(headers, forKey: .headers)
        try values.encode(body, forKey: .content)
        var content = values.nestedContainer(keyedBy: ContentKeys.self, forKey: .content)
        try content.encode(contentSize, forKey: .size)
        try values.encode(redirectURL, forKey: .redirectURL)
        try values.encode(-1, forKey: .headersSize)
        try values.encode(bodySize, forKey: .bodySize)
    }
}

extension HAR.Body: Codable {
    private enum Keys: String, CodingKey {
        case mimeType, text, encoding
        case isTruncated = "_truncated"
    }

    /// Decodes a body.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        mimeType = values.value(.mimeType) ?? ""
        text = values.value(.text)
        isBase64 = values.value(.encoding) == "base64"
        isTruncated = values.value(.isTruncated) ?? false
    }

    /// Encodes the body.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Keys.self)
        try values.encode(mimeType, forKey: .mimeType)
        try values.encodeIfPresent(text, forKey: .text)
        if isBase64 { try values.encode("base64", forKey: .encoding) }
        if isTruncated { try values.encode(true, forKey: .isTruncated) }
    }
}

extension HAR.Pair {
    private enum Keys: String, CodingKey { case name, value }

    /// Decodes a pair. A value that is no text is empty.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        self.init(name: try values.decode(String.self, forKey: .name), value: values.value(.value) ?? "")
    }
}

extension HAR.Timings {
    private enum Keys: String, CodingKey { case blocked, dns, connect, ssl, send, wait, receive }

    /// Decodes times. Those that are missing or `null` did not happen.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        func time(_ key: Keys, _ missing: Double = -1) -> Double {
            let time: Double = values.value(key) ?? missing
            // No exchange takes longer than that, and a sum of such times is a number.
            return time.isFinite ? min(max(time, -1), 1e12) : missing
        }
        blocked = time(.blocked)
        dns = time(.dns)
        connect = time(.connect)
        ssl = time(.ssl)
        send = time(.send, 0)
        wait = time(.wait, 0)
        receive = time(.receive, 0)
    }
}

extension KeyedDecodingContainer {
    /// A value that is not required; `nil` if it is missing, or of another kind, as other programs may write it.
    fileprivate func value<Value: Decodable>(_ key: Key) -> Value? { try? decodeIfPresent(Value.self, forKey: key) }

    /// A number of bytes; -1 if it is unknown.
    fileprivate func size(_ key: Key) -> Int {
        let number: Double? = value(key)
        return number.map { $0 >= 0 ? Int(min($0, 1e15)) : -1 } ?? -1
    }
}
