import type { LanguageTable } from "./language.ts";

/** German, as data. */
export const german: LanguageTable = {
  name: "de",
  stop:
    "ein eine einen einem einer eines der die das den dem des dieser diese dieses und oder aber sondern so dann als wenn ob wo wer wen wem wessen welche welcher welches was wie warum " +
    "ich mich mir mein meine meinen wir uns unser unsere du dich dir dein deine er ihn ihm sie ihr ihre es man sich hier da dort " +
    "bin bist ist sind war waren sein werden wird wurde habe hat haben hatte kann konnen konnte will soll muss darf mag mochte " +
    "zu zum zur von vom in im ins an am auf aus bei mit ohne nach vor uber unter fur um bis seit durch gegen zwischen " +
    "nicht kein keine keinen ja nein bitte mal noch nur auch sehr viel viele mehr alle jede jeder beide etwas " +
    "gib gibt zeig zeige sag sage mach danke hallo jetzt gerade guten",
  endings:
    "ungen>ung heiten>heit keiten>keit innen>in ern>er sten>st ste>st est>st eren>er ere>er en>e es>e er>e em>e est>e e> n> s>",
  numbers:
    "null:0 zwei:2 drei:3 vier:4 funf:5 sechs:6 sieben:7 acht:8 neun:9 zehn:10 elf:11 zwolf:12 dutzend:12 dreizehn:13 vierzehn:14 funfzehn:15 sechzehn:16 " +
    "siebzehn:17 achtzehn:18 neunzehn:19 zwanzig:20 dreissig:30 vierzig:40 funfzig:50 sechzig:60 siebzig:70 achtzig:80 neunzig:90",
  digits: "1.234,5",
  one: "ein eins",
  scales:
    "hundert:100 tausend:1000 million:1000000 millionen:1000000 milliarde:1000000000 milliarden:1000000000",
  and: "und oder sowie &",
  articles: "der die das den dem des ein eine einen einem einer",
  percent: "prozent prozentsatz",
  decimal: "dezimal dezimalzahl bruch",
  no: "nicht kein keine keinen aus ab ohne nie ausschalten abschalten deaktiviere",
  denies: "nicht kein keine keinen nie",
  affirms: "vergessen vergiss nur wissen",
  inNames: "der von zu am",
  says: "dass lautet sagt",
  like: "wie,z. b.,z.b.,zum beispiel,etwa",
  before:
    "von:von,start,herkunft,quelle,absender,abfahrt,from,origin,source nach:nach,ziel,ort,to,destination,city an:an,empfanger,to,recipient zu:zu,ziel,to " +
    "in:stadt,ort,land,raum,zimmer,city,location,room,country,place im:raum,zimmer,monat,room,month bei:ort,place am:datum,tag,date,day um:uhrzeit,zeit,time,hour " +
    "mit:teilnehmer,gaste,attendee,guests uber:thema,topic fur:dauer,person,duration namens:name,titel,title titel:titel,title",
  times:
    "heute morgen ubermorgen gestern montag dienstag mittwoch donnerstag freitag samstag sonntag wochenende woche monat jahr tag " +
    "januar februar marz april mai juni juli august september oktober november dezember fruhling sommer herbst winter abend mittag mitternacht",
  kinds: {
    date: "datum tag date day",
    time: "zeit uhrzeit stunde time hour",
    text: "text inhalt nachricht notiz body message content note",
  },
};
