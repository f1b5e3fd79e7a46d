import type { LanguageTable } from "./language.ts";

/** English, as data. */
export const english: LanguageTable = {
  name: "en",
  stop:
    "a an the this that these those and or but nor so then than as if whether while when where who whom whose which what how why " +
    "i me my mine we us our you your he him his she her it its they them their there here " +
    "am is are was were be been being do does did done have has had having can could will would shall should may might must need " +
    "to of in on at by for from with without into onto out off up down over under about between after before during until since via per through " +
    "not no yes don't doesn't isn't please just also only too very much many more most some any all each every both either " +
    "given using based following including include called named let let's want like give tell show get make know say said ask use ok okay thanks thank hello hi now what's who's where's how's i'd i'm it's",
  endings:
    "ations>at ation>at ings> ing> ities>ity ies>y ied>y sses>ss ches>ch shes>sh xes>x ers> er> est> ed> ly> 's> us>us ss>ss s>",
  numbers:
    "zero:0 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12 dozen:12 thirteen:13 fourteen:14 fifteen:15 " +
    "sixteen:16 seventeen:17 eighteen:18 nineteen:19 twenty:20 thirty:30 forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90",
  digits: "1,234.5",
  one: "one",
  scales: "hundred:100 thousand:1000 million:1000000 billion:1000000000",
  and: "and or & plus",
  articles: "the a an",
  percent: "percent percentage percents",
  decimal: "decimal fraction",
  no: "no not off without disable disabled deactivate don't doesn't never exclude excluding stop",
  denies: "not don't doesn't never",
  affirms: "forget hesitate know remember mind only you",
  inNames: "of the de la",
  says: "that saying says reading",
  like: "like,e.g.,e.g,eg.,for example,for instance,such as",
  before:
    "from:from,start,begin,origin,source,departure,sender,base,old to:to,end,destination,target,recipient,receiver,arrival,new " +
    "in:city,location,place,country,region,state,area,year,month,language,room,unit,county at:location,place,time,hour,venue,address " +
    "on:date,day,platform,topic near:location,place,city for:duration,topic,subject,item,product,person of:name,of by:author,artist,creator,writer,director,name " +
    "with:guests,attendee,participant,ingredient,member,people between:first,start,lower than:limit,maximum,minimum,threshold,price " +
    "under:limit,maximum,price,budget over:minimum,period called:name,title named:name,title about:topic,subject,keyword,query titled:title title:title",
  times:
    "today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday sunday weekend week month year day " +
    "january february march april june july august september october november december spring summer autumn fall winter " +
    "morning afternoon evening night noon midnight",
  kinds: {
    date: "date day when birthday deadline",
    time: "time hour clock",
    text: "text body message content note memo comment",
  },
};
