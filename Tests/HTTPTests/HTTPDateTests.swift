import Encoding
import HTTP
import Testing

@Suite("Dates of HTTP") struct HTTPDateTests {
    @Test("the example of RFC 9110 section 5.6.7 is written and read") func example() {
        let instant = Instant(seconds: 784_111_777)
        #expect(HTTPDate.text(instant) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.instant("Sun, 06 Nov 1994 08:49:37 GMT") == instant)
    }

    @Test("every day of eight years comes back as it went, with the right day of the week") func days() {
        let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        for day in 0..<2922 {
            let instant = Instant(seconds: Int64(day) * 86_400 + Int64(day) * 29)
            let text = HTTPDate.text(instant)
            #expect(text.hasPrefix(names[day % 7]))
            #expect(HTTPDate.instant(text) == instant)
        }
    }

    @Test(arguments: [
        "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT",
    ]) func `anything else is no date`(text: String) { #expect(HTTPDate.instant(text) == nil) }
}
