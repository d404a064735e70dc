import EssentialsHTTP
import FoundationEssentials
import TestTools
import Testing

@Suite struct MultipartBodyTests {
    private let lines = "Content-Type: text/plain; charset=utf-8\r\n"

    @Test("A form is encoded with delimiters, ordered headers and contents, without a final line break")
    func golden() async throws {
        let directory = try ScratchDirectory()
        try directory.write("<p>", "page.html")
        var form = try MultipartBody(boundary: "B")
        try form.append(.field("title", "Sömmer"))
        try form.append(.data(Data([0, 13, 10, 255]), name: "raw"))
        try form.append(.json(["a": 1], name: "model"))
        var file = try MultipartPart.file(directory("page.html"), name: "page")
        file.headerFields[.contentLanguage] = "en"
        file.headerFields[try #require(HTTPField.Name("X-Extra"))] = "1, 2"
        try form.append(file)
        try form.append(
            .stream(stream([Data("ab".utf8), Data("c".utf8)]), length: nil, name: "live", fileName: "l.csv"))
        let expected =
            Data(
                ("--B\r\nContent-Disposition: form-data; name=\"title\"\r\n" + lines + "\r\nSömmer"
                    + "\r\n--B\r\nContent-Disposition: form-data; name=\"raw\"\r\n"
                    + "Content-Type: application/octet-stream\r\n\r\n").utf8)
            + Data([0, 13, 10, 255])
            + Data(
                ("\r\n--B\r\nContent-Disposition: form-data; name=\"model\"\r\n"
                    + "Content-Type: application/json\r\n\r\n{\"a\":1}"
                    + "\r\n--B\r\nContent-Disposition: form-data; name=\"page\"; filename=\"page.html\"\r\n"
                    + "Content-Type: text/html\r\nContent-Language: en\r\nX-Extra: 1, 2\r\n\r\n<p>"
                    + "\r\n--B\r\nContent-Disposition: form-data; name=\"live\"; filename=\"l.csv\"\r\n"
                    + "Content-Type: text/csv\r\n\r\nabc\r\n--B--").utf8)
        #expect(try await form.bytes() == expected)
        #expect(form.contentLength == nil)
    }

    @Test("A body without parts is the closing delimiter alone, as browsers send it", arguments: ["B", nil])
    func noParts(boundary: String?) async throws {
        let form = try MultipartBody(boundary: boundary)
        #expect(try await form.text() == "--\(form.boundary)--")
        #expect(form.contentLength == form.boundary.utf8.count + 4)
        #expect(try await MultipartBytes(form.bytes(), boundary: form.boundary).parts.isEmpty)
        #expect(form.isReplayable)
    }

    @Test("The length is the sum of delimiters, header lines and contents, also empty ones")
    func contentLength() async throws {
        let directory = try ScratchDirectory()
        try directory.write("", "empty.bin")
        var form = try MultipartBody()
        try form.append(.file(directory("empty.bin"), name: "a"))
        try form.append(.field("é", ""))
        try form.append(.stream(stream([Data(count: 7)]), length: 7, name: "c"))
        let dashed = 2 + form.boundary.utf8.count
        let heads = [
            [
                "Content-Disposition: form-data; name=\"a\"; filename=\"empty.bin\"",
                "Content-Type: application/octet-stream",
            ],
            ["Content-Disposition: form-data; name=\"é\"", "Content-Type: text/plain; charset=utf-8"],
            ["Content-Disposition: form-data; name=\"c\"", "Content-Type: application/octet-stream"],
        ]
        let sums = heads.map { $0.reduce(dashed + 2) { $0 + $1.utf8.count + 2 } + 2 + 2 }
        #expect(form.contentLength == sums.reduce(0, +) + 7 + dashed + 2)
        guard case .stream(let length, _, _) = RequestBody.multipart(form).content else {
            Issue.record("The body is no stream.")
            return
        }
        #expect(length == form.contentLength)
        #expect(try await form.bytes().count == length)
    }

    @Test(
        "The content type contains the subtype and the boundary, quoted if necessary",
        arguments: [
            (MultipartBody.Subtype.formData, "aB9", "multipart/form-data; boundary=aB9"),
            (.mixed, "a'+_-.b", "multipart/mixed; boundary=a'+_-.b"),
            (.mixed, "a:b", "multipart/mixed; boundary=\"a:b\""),
            (.formData, "(a b)/=?,", "multipart/form-data; boundary=\"(a b)/=?,\""),
            (.related, "B", "multipart/related; boundary=B"),
        ])
    func contentType(subtype: MultipartBody.Subtype, boundary: String, expected: String) throws {
        #expect(try MultipartBody(subtype: subtype, boundary: boundary).contentType == expected)
    }

    @Test(
        "The content type of a related body contains the type of its first part",
        arguments: [
            ("text/xml", "text/xml"), ("application/xop+xml ; type=\"a\"", "application/xop+xml"),
            ("x\"\\/y;z", "x\\\"\\\\/y"), (";", ""),
        ])
    func rootType(type: String, written: String) throws {
        var body = try MultipartBody(subtype: .related, boundary: "B")
        try body.append(.data(Data(), name: nil, type: type))
        try body.append(.data(Data(), name: nil, type: "image/png"))
        #expect(body.contentType == "multipart/related; boundary=B; type=\"\(written)\"")
    }

    @Test("Parts of mixed and related bodies need no name, and named ones are attachments")
    func withoutNames() async throws {
        for subtype in [MultipartBody.Subtype.mixed, .related] {
            var body = try MultipartBody(subtype: subtype, boundary: "B")
            try body.append(.json([1], name: nil))
            try body.append(.data(Data("x".utf8), name: nil, fileName: "x.png"))
            try body.append(.data(Data("y".utf8), name: "n", fileName: "y.png"))
            let expected =
                "--B\r\nContent-Type: application/json\r\n\r\n[1]\r\n--B\r\n"
                + "Content-Disposition: attachment; filename=\"x.png\"\r\nContent-Type: image/png\r\n\r\nx\r\n--B\r\n"
                + "Content-Disposition: attachment; name=\"n\"; filename=\"y.png\"\r\n"
                + "Content-Type: image/png\r\n\r\ny\r\n--B--"
            #expect(try await body.text() == expected)
        }
    }

    private func expectRefused(
        _ part: MultipartPart, by form: MultipartBody, _ reason: RequestFailure.Reason, _ word: String
    ) async throws {
        var changed = form
        let failure = #expect(throws: RequestFailure.self) { try changed.append(part) }
        #expect(failure?.reason == reason)
        #expect(failure?.message.contains(word) == true, "\(failure?.message ?? "")")
        #expect(changed.contentLength == form.contentLength)
        #expect(changed.contentType == form.contentType)
        #expect(try await changed.bytes() == form.bytes())
    }

    @Test("A part of a form without a name is refused, and the body is unchanged")
    func nameless() async throws {
        var form = try MultipartBody()
        try form.append(.field("a", "b"))
        try await expectRefused(.json([1], name: nil), by: form, .invalidRequest, "name")
    }

    @Test("Extra fields that the part writes itself are refused", arguments: ["content-type", "Content-Disposition"])
    func ownFields(name: String) async throws {
        var part = MultipartPart.field("a", "b")
        part.headerFields[try #require(HTTPField.Name(name))] = "x"
        try await expectRefused(part, by: MultipartBody(), .invalidRequest, name)
    }

    @Test(
        "A part is refused if one of its lines begins with the caller's boundary",
        arguments: [
            ("--B", true), ("a\r\n--B", true), ("a\n--Bc", true), ("a\r--B\r", true), ("\r\n\r\n--B--", true),
            ("", false), ("-", false), ("a--B", false), ("a\r\n --B", false), ("--b\r\n-B", false), ("\r\n--", false),
        ])
    func boundaryInside(text: String, isRefused: Bool) async throws {
        let form = try MultipartBody(boundary: "B")
        if isRefused {
            try await expectRefused(.field("a", text), by: form, .invalidRequest, "boundary")
        } else {
            var form = form
            try form.append(.field("a", text))
            let parts = try await MultipartBytes(form.bytes(), boundary: "B").parts
            #expect(parts.map(\.content) == [Data(text.utf8)])
        }
    }

    @Test("A header line that begins with the caller's boundary is refused")
    func boundaryInHead() async throws {
        var part = MultipartPart.field("a", "b")
        part.headerFields[try #require(HTTPField.Name("--Bc"))] = "x"
        try await expectRefused(part, by: MultipartBody(boundary: "B"), .invalidRequest, "boundary")
        var other = try MultipartBody(boundary: "C")
        try other.append(part)
    }

    @Test("A body accepts 10,000 parts and refuses more")
    func partLimit() async throws {
        var form = try MultipartBody(boundary: "B")
        for _ in 0..<MultipartBody.maximumParts { try form.append(.field("a", "b")) }
        try await expectRefused(.field("a", "b"), by: form, .tooLarge, "10000")
        #expect(try await MultipartBytes(form.bytes(), boundary: "B").parts.count == 10_000)
    }

    @Test("The header lines of a part have at most 16 KiB together")
    func headLimit() async throws {
        let fixed = "Content-Disposition: form-data; name=\"\"\r\n".utf8.count + lines.utf8.count
        let longest = String(repeating: "n", count: MultipartBody.maximumHeadBytes - fixed)
        var form = try MultipartBody()
        try form.append(.field(longest, ""))
        try await expectRefused(.field(longest + "n", ""), by: form, .tooLarge, "16385 bytes")
    }

    @Test("Lengths whose sum overflows are refused")
    func overflow() async throws {
        let endless = try MultipartPart.stream(stream([]), length: .max, name: "a")
        #expect(endless.length == .max)
        try await expectRefused(endless, by: MultipartBody(), .tooLarge, "overflow")
        var form = try MultipartBody()
        let half = try MultipartPart.stream(stream([]), length: .max / 2, name: "a")
        try form.append(half)
        #expect(form.contentLength ?? 0 > .max / 2)
        var whole = form
        #expect(throws: RequestFailure.self) { try whole.append(half) }
        #expect(whole.contentLength == form.contentLength)
    }

    @Test("A copy is independent of the original")
    func value() async throws {
        var first = try MultipartBody(boundary: "B")
        try first.append(.field("a", "1"))
        let copy = first
        let sending = RequestBody.multipart(copy)
        try first.append(.field("b", "2"))
        let parts = try await MultipartBytes(sending.pieces().reduce(Data(), +), boundary: "B").parts
        #expect(parts.map(\.content) == [Data("1".utf8)])
        #expect(try await MultipartBytes(first.bytes(), boundary: "B").parts.count == 2)
    }
}
