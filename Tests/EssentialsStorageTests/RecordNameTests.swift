import EssentialsStorage
import Testing

@Suite struct RecordNameTests {
    private let name = RecordName(key: 0xab << 100, partition: 7, group: .max, number: 3)

    @Test("The name of a body's file is read as it was written, and other names are refused")
    func bodies() {
        for id in [0, 1, UInt64.max] {
            let body = RecordBodyName(name, id)
            #expect(RecordBodyName(body.text) == body)
            #expect(RecordName(body.text) == nil)
        }
        let text = RecordBodyName(name, 1).text
        for other in ["", ".body", "-.body", name.text, text + "x", "x" + text, text.uppercased()] {
            #expect(RecordBodyName(other) == nil)
        }
    }

    @Test("The name of a record is read as it was written, and other names are refused")
    func records() {
        for number in [0, 1, UInt8.max] {
            #expect(RecordName(name.numbered(number).text) == name.numbered(number))
            #expect(RecordBodyName(name.numbered(number).text) == nil)
        }
        let text = name.text
        for other in ["", ".record", "---.record", text + "x", "x" + text, "+" + text.dropFirst(), text.uppercased()] {
            #expect(RecordName(other) == nil)
        }
    }
}
