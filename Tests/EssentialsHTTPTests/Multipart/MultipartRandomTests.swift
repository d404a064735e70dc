import EssentialsHTTP
import FoundationEssentials
import TestTools
import Testing

@Suite struct MultipartRandomTests {
    /// A random part, and the bytes that the body must contain for it.
    private struct Sample {
        let part: MultipartPart
        let headers: [String]
        let content: Data

        init(_ index: Int, in directory: ScratchDirectory, _ numbers: inout SeededNumbers) throws {
            let name = numbers.text(of: ["a", "\"", "\r\n", "ü", "%", " "], upTo: 6)
            let largest = Bool.random(using: &numbers) ? 40 : 140_000
            let size = Int.random(in: 0...largest, using: &numbers)
            var bytes = [UInt8](repeating: 0, count: size)
            let letters = Array("\r\n--a0\u{0}".utf8)
            for offset in bytes.indices { bytes[offset] = letters[Int(numbers.next() % UInt64(letters.count))] }
            content = Data(bytes)
            let fileName = "f\(index).png"
            var part: MultipartPart
            var type = "image/png"
            switch Int.random(in: 0..<4, using: &numbers) {
            case 0:
                type = "q/r"
                part = try .data(content, name: name, fileName: fileName, type: type)
            case 1:
                try content.write(to: URL(filePath: directory(fileName)))
                part = try .file(directory(fileName), name: name)
            default:
                let cut = Int.random(in: 0...size, using: &numbers)
                let pieces = stream([content.prefix(cut), content.dropFirst(cut)])
                let length = Bool.random(using: &numbers) ? size : nil
                part = try .stream(pieces, length: length, name: name, fileName: fileName)
            }
            var headers = [
                "Content-Disposition: form-data; name=\"\(Self.escaped(name))\"; filename=\"\(fileName)\"",
                "Content-Type: \(type)",
            ]
            if Bool.random(using: &numbers) {
                part.headerFields[.contentLanguage] = "de"
                headers.append("Content-Language: de")
            }
            self.part = part
            self.headers = headers
        }

        private static func escaped(_ name: String) -> String {
            var bytes: [UInt8] = []
            for byte in name.utf8 {
                switch byte {
                case 0x22: bytes += Array("%22".utf8)
                case 0x0d: bytes += Array("%0D".utf8)
                case 0x0a: bytes += Array("%0A".utf8)
                default: bytes.append(byte)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @Test("A random body equals a plain concatenation and can be parsed", arguments: 0..<60)
    func random(seed: Int) async throws {
        var numbers = SeededNumbers(state: UInt64(seed))
        let directory = try ScratchDirectory()
        let count = Int.random(in: 1...12, using: &numbers)
        let samples = try (0..<count).map { try Sample($0, in: directory, &numbers) }
        var form = try MultipartBody()
        var expected = Data()
        for sample in samples {
            try form.append(sample.part)
            let lines = ["--\(form.boundary)"] + sample.headers + ["", ""]
            expected += Data(lines.joined(separator: "\r\n").utf8) + sample.content + Data("\r\n".utf8)
        }
        expected += Data("--\(form.boundary)--".utf8)
        let knowsLength = samples.allSatisfy { $0.part.length != nil }
        #expect(form.contentLength == (knowsLength ? expected.count : nil))
        let bytes = try await form.bytes()
        #expect(bytes == expected)
        let read = try MultipartBytes(bytes, boundary: form.boundary)
        #expect(read.parts == samples.map { MultipartBytes.Part(headers: $0.headers, content: $0.content) })
    }
}
