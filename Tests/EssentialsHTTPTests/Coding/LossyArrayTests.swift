import EssentialsHTTP
import Testing

@Suite struct LossyArrayTests {
    private let codecs = CodecRegistry.standard

    @Test("Elements that cannot be decoded are skipped and counted")
    func skipping() throws {
        let body = #"[{"id":1,"text":"a"},null,5,{"id":"x"},[{}],{"id":2,"text":"b"}]"#
        let notes = try codecs.decode(LossyArray<CodedNote>.self, body)
        #expect(notes == LossyArray([CodedNote(id: 1, text: "a"), CodedNote(id: 2, text: "b")], skippedCount: 4))
        #expect(notes.map(\.id) == [1, 2])
        #expect(notes.count == 2)
    }

    @Test("A plain array fails at the first element that cannot be decoded")
    func strict() throws {
        let failure = try #require(throws: RequestFailure.self) { try codecs.decode([Int].self, #"[1,"x"]"#) }
        #expect(failure.message.contains("“[1]” is not of type Int"))
    }

    @Test("A document that is not an array fails to decode", arguments: ["{}", "5", "null", "[1"])
    func noArray(body: String) throws {
        let failure = try #require(throws: RequestFailure.self) { try codecs.decode(LossyArray<Int>.self, body) }
        #expect(failure.reason == .decoding)
    }

    @Test("A lossy array is encoded as an array")
    func writing() throws {
        #expect(try codecs.text(LossyArray([1, 2], skippedCount: 3)) == "[1,2]")
    }
}
