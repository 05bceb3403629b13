import Testing

@testable import Scenario

@Suite("Tickets of an identity provider somewhere else")
struct TicketTests {
    @Test("a printed ticket is one word, or an object that may say whose it is")
    func forms() throws {
        #expect(try Ticket(printed: Array("T1\n".utf8)).text == "T1")
        let named = try Ticket(printed: Array(" {\"ticket\": \"T2\", \"email\": \"a@b.example\"}\n".utf8))
        #expect(named.text == "T2" && named.email == "a@b.example")
        #expect(try Ticket(printed: Array("{\"ticket\": \"T3\"}".utf8)).email == nil)
    }

    @Test(
        "anything else is refused, without telling what was printed",
        arguments: ["", "two words", "{\"ticket\": \"\"}", "{\"ticket\": 7}", "{\"ticket\": \"secret\""])
    func refused(_ printed: String) {
        let error = #expect(throws: NoTicket.self) { try Ticket(printed: Array(printed.utf8)) }
        #expect(error?.description.contains("secret") == false)
    }
}
