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
        creator = try log.decodeIfPresent(Creator.self, forKey: .creator) ?? Creator(name: "", version: "")
        entries = try log.decode([Entry].self, forKey: .entries)
        comment = try log.decodeIfPresent(String.self, forKey: .comment)
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
        response = try values.decodeIfPresent(HAR.Response.self, forKey: .response) ?? HAR.Response()
        timings = try values.decodeIfPresent(HAR.Timings.self, forKey: .timings) ?? HAR.Timings()
        serverAddress = try values.decodeIfPresent(String.self, forKey: .serverIPAddress)
        call = try values.decodeIfPresent(String.self, forKey: .call)
        attempt = try values.decodeIfPresent(Int.self, forKey: .attempt)
        source = try values.decodeIfPresent(String.self, forKey: .source)
        cacheStatus = try values.decodeIfPresent(String.self, forKey: .cacheStatus)
        failure = try values.decodeIfPresent(HAR.Failure.self, forKey: .failure)
        comment = try values.decodeIfPresent(String.self, forKey: .comment)
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
        httpVersion = try values.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
        headers = try values.decodeIfPresent([HAR.Pair].self, forKey: .headers) ?? []
        body = try values.decodeIfPresent(HAR.Body.self, forKey: .postData)
        bodySize = try values.decodeIfPresent(Int.self, forKey: .bodySize) ?? -1
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
        status = try values.decodeIfPresent(Int.self, forKey: .status) ?? 0
        statusText = try values.decodeIfPresent(String.self, forKey: .statusText) ?? ""
        httpVersion = try values.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
        headers = try values.decodeIfPresent([HAR.Pair].self, forKey: .headers) ?? []
        body = try values.decodeIfPresent(HAR.Body.self, forKey: .content) ?? HAR.Body()
        if values.contains(.content) {
            let content = try values.nestedContainer(keyedBy: ContentKeys.self, forKey: .content)
            contentSize = try content.decodeIfPresent(Int.self, forKey: .size) ?? -1
        }
        redirectURL = try values.decodeIfPresent(String.self, forKey: .redirectURL) ?? ""
        bodySize = try values.decodeIfPresent(Int.self, forKey: .bodySize) ?? -1
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
        mimeType = try values.decodeIfPresent(String.self, forKey: .mimeType) ?? ""
        text = try values.decodeIfPresent(String.self, forKey: .text)
        isBase64 = try values.decodeIfPresent(String.self, forKey: .encoding) == "base64"
        isTruncated = try values.decodeIfPresent(Bool.self, forKey: .isTruncated) ?? false
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

extension HAR.Timings {
    private enum Keys: String, CodingKey { case blocked, dns, connect, ssl, send, wait, receive }

    /// Decodes times. Those that are missing or `null` did not happen.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        func time(_ key: Keys, _ missing: Double = -1) throws -> Double {
            let time = try values.decodeIfPresent(Double.self, forKey: key) ?? missing
            // No exchange takes longer than that, and a sum of such times is a number.
            return time.isFinite ? min(max(time, -1), 1e12) : missing
        }
        blocked = try time(.blocked)
        dns = try time(.dns)
        connect = try time(.connect)
        ssl = try time(.ssl)
        send = try time(.send, 0)
        wait = try time(.wait, 0)
        receive = try time(.receive, 0)
    }
}
